package image

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func TestPushThenPull(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	want := map[string]string{"manifests/csv.yaml": "csv", "metadata/annotations.yaml": "annotations", "tests/scorecard/config.yaml": ""}
	contents := map[string][]byte{}
	for name, data := range want {
		contents[name] = []byte(data)
	}
	files := must.Value(Files(contents))(t)
	labels := BundleLabels("p", []string{"stable", "beta"}, "stable")
	d := must.Value(Push(context.Background(), r.host+"/test/bundle:v1", files, labels, PushOptions{}))(t)
	image, got := pullFiles(t, openStore(t, Config{}), r.host+"/test/bundle:v1", PullOptions{})
	must.Equal(t, "files", got, want)
	wantLabels := map[string]string{
		"operators.operatorframework.io.bundle.mediatype.v1":       "registry+v1",
		"operators.operatorframework.io.bundle.manifests.v1":       "manifests/",
		"operators.operatorframework.io.bundle.metadata.v1":        "metadata/",
		"operators.operatorframework.io.bundle.package.v1":         "p",
		"operators.operatorframework.io.bundle.channels.v1":        "stable,beta",
		"operators.operatorframework.io.bundle.channel.default.v1": "stable",
	}
	if diff := cmp.Diff(wantLabels, image.Labels); diff != "" || image.Digest != d {
		t.Errorf("digest %s, want %s; labels (-want +got):\n%s", image.Digest, d, diff)
	}
	pushed := must.Value(remote.Image(r.tag(t, "test/bundle:v1")))(t)
	if err := validate.Image(pushed); err != nil {
		t.Errorf("the image is not valid: %v", err)
	}
}

func TestPushIsDeterministicAndSendsOnce(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "configs", "p", "catalog.yaml"), []byte("schema: olm.package"))
	inMemory := must.Value(Files(map[string][]byte{"configs/p/catalog.yaml": []byte("schema: olm.package")}))(t)
	var digests []string
	for _, files := range []fs.FS{os.DirFS(dir), inMemory} {
		d := must.Value(Push(context.Background(), r.host+"/test/catalog:v1", files, CatalogLabels(), PushOptions{}))(t)
		digests = append(digests, d)
	}
	if digests[0] != digests[1] {
		t.Errorf("digests %q differ for the same content", digests)
	}
	sent := 0
	for _, each := range r.seen() {
		if strings.HasPrefix(each, "POST ") {
			sent++
		}
	}
	if sent != 2 {
		t.Errorf("%d uploads, want 2: one layer, one configuration", sent)
	}
}

func TestPushRefuses(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.fault(onPath("/v2/denied/a/blobs/uploads/", refuse(403, "DENIED", "read only")))
	empty, _ := Files(nil)
	linked := t.TempDir()
	must.NoError(t, os.Symlink("/dev/null", filepath.Join(linked, "device")))
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	tests := map[string]struct {
		ctx    context.Context
		ref    string
		files  fs.FS
		kind   Kind
		reason string
	}{
		"no reference":       {context.Background(), "", empty, InvalidReference, "invalid reference format"},
		"no host":            {context.Background(), "nonsense", empty, InvalidReference, "it has no registry host"},
		"a digest":           {context.Background(), r.host + "/a@sha256:" + strings.Repeat("0", 64), empty, InvalidReference, "give a tag"},
		"a denied push":      {context.Background(), r.host + "/denied/a:v1", empty, Unauthorized, "DENIED: read only"},
		"a device":           {context.Background(), r.host + "/a:v1", os.DirFS(linked), InvalidImage, "device is neither"},
		"files that fail":    {context.Background(), r.host + "/a:v1", fstest.MapFS{"x": &fstest.MapFile{Mode: fs.ModeNamedPipe}}, InvalidImage, "x is neither"},
		"a cancelled push":   {cancelled, r.host + "/a:v1", empty, "", "context canceled"},
		"nobody who listens": {context.Background(), "127.0.0.1:1/test/a:v1", empty, Unavailable, "connection refused"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Push(tt.ctx, tt.ref, tt.files, nil, PushOptions{})
			if err == nil || KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %v, want kind %q with %q", err, tt.kind, tt.reason)
			}
			var e *Error
			if errors.As(err, &e) && (e.Op != "push" || e.Ref != tt.ref) {
				t.Errorf("error of %s %s", e.Op, e.Ref)
			}
		})
	}
}

func TestFilesRefuses(t *testing.T) {
	t.Parallel()
	for name, paths := range map[string][]string{
		"a climbing path": {"../a"}, "an absolute path": {"/a"}, "the root": {"."}, "nothing": {""},
		"a file that is a directory": {"a", "a/b"},
	} {
		files := map[string][]byte{"fine": nil}
		for _, p := range paths {
			files[p] = nil
		}
		if _, err := Files(files); err == nil || !strings.Contains(err.Error(), "cannot be the path of a file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTreeIsAFileSystem(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b/c", "b/d/e", "f/g/h/i"}
	contents := map[string][]byte{}
	for _, name := range names {
		contents[name] = []byte("content of " + name)
	}
	files := must.Value(Files(contents))(t)
	if err := fstest.TestFS(files, names...); err != nil {
		t.Error(err)
	}
	empty := must.Value(Files(nil))(t)
	if err := fstest.TestFS(empty); err != nil {
		t.Error(err)
	}
}
