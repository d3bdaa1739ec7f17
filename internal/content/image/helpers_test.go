package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
)

// testRegistry is a registry on loopback that logs its requests and lets a test
// answer some of them itself.
type testRegistry struct {
	*httptest.Server
	host string

	mu       sync.Mutex
	requests []string
	answer   func(w http.ResponseWriter, r *http.Request, next http.Handler)
}

func newTestRegistry(t testing.TB) *testRegistry {
	t.Helper()
	r := &testRegistry{}
	r.Server = httptest.NewServer(r.handler())
	r.host = strings.TrimPrefix(r.URL, "http://")
	t.Cleanup(r.Close)
	return r
}

func (r *testRegistry) handler() http.Handler {
	inner := NewRegistry("")
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.requests = append(r.requests, req.Method+" "+req.URL.Path)
		answer := r.answer
		r.mu.Unlock()
		if answer == nil {
			inner.ServeHTTP(w, req)
			return
		}
		answer(w, req, inner)
	})
}

// fault sets who answers requests from now on; nil is the registry itself.
func (r *testRegistry) fault(answer func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// seen returns the requests for manifests and blobs since the last call.
func (r *testRegistry) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var seen []string
	for _, each := range r.requests {
		if strings.Contains(each, "/manifests/") || strings.Contains(each, "/blobs/") {
			seen = append(seen, each)
		}
	}
	r.requests = nil
	return seen
}

// entry is one entry of a layer.
type entry struct {
	name, data, link string
	kind             byte // tar.TypeReg when zero
}

func file(name, data string) entry   { return entry{name: name, data: data} }
func whiteout(name string) entry     { return entry{name: name} }
func symlink(name, to string) entry  { return entry{name: name, link: to, kind: tar.TypeSymlink} }
func hardlink(name, to string) entry { return entry{name: name, link: to, kind: tar.TypeLink} }
func dir(name string) entry          { return entry{name: name, kind: tar.TypeDir} }

func tarOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Linkname: e.link, Typeflag: e.kind, Mode: 0o644, Size: int64(len(e.data))}
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		must.NoError(t, w.WriteHeader(h))
		must.Value(io.WriteString(w, e.data))(t)
	}
	must.NoError(t, w.Close())
	return buffer.Bytes()
}

func gzipOf(t testing.TB, data []byte) []byte {
	t.Helper()
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	must.Value(w.Write(data))(t)
	must.NoError(t, w.Close())
	return buffer.Bytes()
}

func zstdOf(t testing.TB, data []byte) []byte {
	t.Helper()
	w := must.Value(zstd.NewWriter(nil))(t)
	return w.EncodeAll(data, nil)
}

// imageOf makes an image of layers as they are to be sent.
func imageOf(t testing.TB, labels map[string]string, layers ...[]byte) v1.Image {
	t.Helper()
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image, err := mutate.Config(image, v1.Config{Labels: labels})
	must.NoError(t, err)
	for _, layer := range layers {
		if image, err = mutate.AppendLayers(image, static.NewLayer(layer, types.OCILayer)); err != nil {
			t.Fatal(err)
		}
	}
	return image
}

// push pushes an image and returns its digest.
func (r *testRegistry) push(t testing.TB, repository string, image v1.Image) string {
	t.Helper()
	must.NoError(t, remote.Write(r.tag(t, repository), image))
	d := must.Value(image.Digest())(t)
	return d.String()
}

func (r *testRegistry) tag(t testing.TB, repository string) name.Tag {
	t.Helper()
	tag := must.Value(name.NewTag(r.host+"/"+repository, name.Insecure))(t)
	return tag
}

func openStore(t testing.TB, cfg Config) *Store {
	t.Helper()
	s := must.Value(Open(t.TempDir(), cfg))(t)
	return s
}

// pullFiles pulls an image and returns its files.
func pullFiles(t testing.TB, s *Store, ref string, o PullOptions) (*Image, map[string]string) {
	t.Helper()
	image := must.Value(s.Pull(context.Background(), ref, o))(t)
	t.Cleanup(func() { _ = image.Close() })
	return image, readAll(t, image.FS())
}

func readAll(t testing.TB, fsys fs.FS) map[string]string {
	t.Helper()
	files := map[string]string{}
	must.NoError(t, fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, p)
		files[p] = string(data)
		return err
	}))
	return files
}

func readDirNames(t testing.TB, path string) []string {
	t.Helper()
	entries := must.Value(os.ReadDir(path))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
