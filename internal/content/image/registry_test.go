package image

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// serve serves the registry of a directory until the returned function stops it.
func serve(t testing.TB, dir string) (*testRegistry, func()) {
	t.Helper()
	server := httptest.NewServer(NewRegistry(dir))
	t.Cleanup(server.Close)
	return &testRegistry{Server: server, host: strings.TrimPrefix(server.URL, "http://")}, server.Close
}

func TestRegistryKeepsItsContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, stop := serve(t, dir)
	old := r.fill(t, Config{}, "org/image:v1", "old")
	r.fill(t, Config{}, "org/image:v1", "new")
	r.fill(t, Config{}, "org/image:gone", "gone")
	for i := range 3 { // each index may come before or after its image on disk
		index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
			Add:        imageOf(t, nil, gzipOf(t, tarOf(t, file("a", string(rune('0'+i)))))),
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}},
		})
		must.NoError(t, remote.WriteIndex(r.tag(t, "org/index:v"+string(rune('0'+i))), index))
	}
	must.NoError(t, remote.Delete(r.tag(t, "org/image:gone")))
	stop()
	writeFile(t, filepath.Join(dir, "manifests", "0000.new"), []byte(`{"repository":`))
	writeFile(t, filepath.Join(dir, "manifests", "1111"), []byte(`{}`))

	r, _ = serve(t, dir)
	s := openStore(t, Config{})
	for ref, want := range map[string]string{
		"/org/image:v1": "new", "/org/image@" + old: "old", "/org/index:v0": "0", "/org/index:v1": "1", "/org/index:v2": "2",
	} {
		if _, files := pullFiles(t, s, r.host+ref, PullOptions{}); files["a"] != want {
			t.Errorf("%s after a restart: %v, want %s", ref, files, want)
		}
	}
	if err := s.Exists(context.Background(), r.host+"/org/image:gone", Auth{}); KindOf(err) != NotFound {
		t.Errorf("a deleted tag after a restart: %v", err)
	}
}

func TestRegistryRefuses(t *testing.T) {
	t.Parallel()
	occupied := filepath.Join(t.TempDir(), "file")
	writeFile(t, occupied, nil)
	tests := map[string]struct {
		dir, method, path string
		body              io.Reader
		status            int
		text              string
	}{
		"a directory that cannot be used": {occupied, http.MethodGet, "/v2/", nil, 500, "open registry directory " + occupied},
		"a giant manifest":                {t.TempDir(), http.MethodPut, "/v2/a/manifests/v1", io.LimitReader(zeroes{}, maxManifest+1), 413, "too large"},
		"an index of nothing": {t.TempDir(), http.MethodPut, "/v2/a/manifests/v1",
			strings.NewReader(`{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:` + strings.Repeat("0", 64) + `"}]}`), 404, "MANIFEST_UNKNOWN"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(tt.method, tt.path, tt.body)
			r.Header.Set("Content-Type", "application/vnd.oci.image.index.v1+json")
			w := httptest.NewRecorder()
			NewRegistry(tt.dir).ServeHTTP(w, r)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.text) {
				t.Errorf("answer %d %q, want %d with %q", w.Code, w.Body, tt.status, tt.text)
			}
		})
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { return len(bytes.ReplaceAll(p, p, p)), nil }

func TestRegistryIsQuiet(t *testing.T) {
	r, w, err := os.Pipe()
	must.NoError(t, err)
	stderr := os.Stderr
	os.Stderr = w
	registry := NewRegistry(t.TempDir())
	os.Stderr = stderr
	registry.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v2/a/manifests/v1", nil))
	must.NoError(t, w.Close())
	if said, err := io.ReadAll(r); len(said) != 0 || err != nil {
		t.Errorf("it wrote %q, %v", said, err)
	}
}
