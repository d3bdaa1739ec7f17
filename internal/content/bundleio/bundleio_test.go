package bundleio

import (
	"errors"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

const example = "../../../examples/bundles"

// exampleDir is the directory of one of the example bundles.
func exampleDir(t *testing.T) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(example, "*", "*", "manifests"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no example bundles in %s, %v", example, err)
	}
	return filepath.Dir(dirs[0])
}

func renderer(t *testing.T) *Renderer {
	t.Helper()
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	return &Renderer{Store: store}
}

func emptyRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// paths are the files of a tree.
func paths(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var out []string
	must.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			out = append(out, name)
		}
		return err
	}))
	return out
}

func TestPublishAndUnpack(t *testing.T) {
	dir := exampleDir(t)
	files, labels, err := ImageOf(dir)
	must.NoError(t, err)
	ref := emptyRegistry(t) + "/op/bundle:v1"
	published, err := Publish(t.Context(), files, labels, ref, image.PushOptions{})
	if err != nil || published.Image != strings.TrimSuffix(ref, ":v1")+"@"+published.Digest {
		t.Fatalf("%+v, %v", published, err)
	}
	out := filepath.Join(t.TempDir(), "out")
	pinned, err := Unpack(t.Context(), renderer(t), ref, out, false)
	if err != nil || pinned != published.Image {
		t.Fatalf("unpacked %s, %v, want %s", pinned, err, published.Image)
	}
	must.Equal(t, "unpacked", paths(t, os.DirFS(out)), paths(t, files))
	_, err = Unpack(t.Context(), renderer(t), ref, out, true)
	must.Fail(t, "Unpack", err, "is there already")
	source, err := Open(t.Context(), renderer(t), ref)
	if err != nil || source.Image != published.Image {
		t.Fatalf("%+v, %v", source, err)
	}
	must.NoError(t, errors.Join(Check(t.Context(), source.FS), source.Close()))
}

func TestPublishOnDisk(t *testing.T) {
	files, labels, err := ImageOf(exampleDir(t))
	must.NoError(t, err)
	dir := t.TempDir()
	layout, err1 := Publish(t.Context(), files, labels, "oci:"+filepath.Join(dir, "layout")+":v1", image.PushOptions{})
	archive, err2 := Publish(t.Context(), files, labels, "oci-archive:"+filepath.Join(dir, "bundle.tar"), image.PushOptions{})
	if err1 != nil || err2 != nil || layout.Digest == "" || layout.Digest != archive.Digest {
		t.Errorf("%+v %v, %+v %v", layout, err1, archive, err2)
	}
	for _, name := range []string{"layout/index.json", "bundle.tar"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := Publish(t.Context(), fstest.MapFS{"x": {Mode: fs.ModeNamedPipe}}, nil, "oci-archive:"+filepath.Join(dir, "bad.tar"), image.PushOptions{}); err == nil {
		t.Error("a pipe is content")
	}
	if _, err := os.Stat(filepath.Join(dir, "bad.tar")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half an archive is left: %v", err)
	}
}

func TestUnpackRefusesInvalidBundles(t *testing.T) {
	files := fstest.MapFS{"manifests/x.yaml": {Data: []byte("a: [")}, "metadata/annotations.yaml": {Data: []byte("annotations: {a: b}")}}
	ref := emptyRegistry(t) + "/op/bundle:v1"
	must.Value(image.Push(t.Context(), ref, files, image.BundleLabels("op", []string{"c"}, ""), image.PushOptions{}))(t)
	out := filepath.Join(t.TempDir(), "out")
	_, err := Unpack(t.Context(), renderer(t), ref, out, false)
	var invalid *InvalidError
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "manifests/x.yaml:1: error:") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory is made: %v", err)
	}
	if _, err := Unpack(t.Context(), renderer(t), ref, out, true); err != nil {
		t.Error(err)
	}
}

func TestUnpackRefusesCatalogs(t *testing.T) {
	ref := emptyRegistry(t) + "/op/catalog:v1"
	must.Value(image.Push(t.Context(), ref, fstest.MapFS{"configs/x.json": {Data: []byte("{}")}}, image.CatalogLabels(), image.PushOptions{}))(t)
	_, err := Unpack(t.Context(), renderer(t), ref, t.TempDir(), true)
	must.Fail(t, "Unpack", err, "catalog image")
}

// TestWriteTreeStaysInside writes through a link that leads out of the directory.
func TestWriteTreeStaysInside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	must.NoError(t, os.Symlink(outside, filepath.Join(dir, "manifests")))
	if err := writeTree(fstest.MapFS{"manifests/x.yaml": {Data: []byte("x")}}, dir); err == nil {
		t.Error("no error")
	}
	must.Empty(t, "wrote outside", paths(t, os.DirFS(outside)))
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.yaml")
	must.NoError(t, os.WriteFile(file, nil, 0o600))
	for ref, want := range map[string]string{file: "it is a file", "./nowhere": "there is no file or directory of that name", "nowhere": "there is no file or directory of that name"} {
		_, err := Open(t.Context(), renderer(t), ref)
		must.Fail(t, ref, err, want)
	}
	_, _, err := ImageOf(t.TempDir())
	must.Fail(t, "ImageOf", err, "read directory metadata")
}

// TestUnpackWritesAllOrNothing has one of the files in the way.
func TestUnpackWritesAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "z.yaml"), []byte("mine"), 0o600))
	err := writeTree(fstest.MapFS{"a.yaml": {Data: []byte("a")}, "z.yaml": {Data: []byte("z")}}, dir)
	must.Fail(t, "writeTree", err, "z.yaml is there already")
	must.Equal(t, "there", paths(t, os.DirFS(dir)), []string{"z.yaml"})
}

func TestPublishRefuses(t *testing.T) {
	files := fstest.MapFS{"x": {Data: []byte("x")}}
	mine := filepath.Join(t.TempDir(), "mine.tar")
	must.NoError(t, os.WriteFile(mine, []byte("mine"), 0o600))
	for destination, want := range map[string]string{
		"oci:": "needs a path", "oci::v1": "needs a path", "oci-archive:": "needs a path", "org/name:v1": "write the host", "": "write the host",
		"oci-archive:" + mine + ":v1": "it is there already",
	} {
		_, err := Publish(t.Context(), files, nil, destination, image.PushOptions{})
		must.Fail(t, destination, err, want)
	}
	must.Equal(t, "read file", string(must.Value(os.ReadFile(mine))(t)), "mine")
}

// TestManifestsElsewhere pushes a bundle whose annotations name another directory of manifests.
func TestManifestsElsewhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	must.NoError(t, os.CopyFS(dir, os.DirFS(exampleDir(t))))
	annotations := filepath.Join(dir, "metadata", "annotations.yaml")
	text, err1 := os.ReadFile(annotations)
	err2 := os.Rename(filepath.Join(dir, "manifests"), filepath.Join(dir, "deploy"))
	err3 := os.WriteFile(annotations, []byte(strings.Replace(string(text), "manifests.v1: manifests/", "manifests.v1: deploy/", 1)), 0o600)
	must.NoError(t, errors.Join(err1, err2, err3))
	files, _, err := ImageOf(dir)
	must.NoError(t, err)
	must.NoErrorf(t, Check(t.Context(), files), "Check")
	must.Equal(t, "check", len(paths(t, files)), len(paths(t, os.DirFS(dir))))
}

func TestSplitTag(t *testing.T) {
	for text, want := range map[string][2]string{
		"dir":              {"dir", ""},
		"dir:v1":           {"dir", "v1"},
		"a:b/dir":          {"a:b/dir", ""},
		"host:5000/x:1":    {"host:5000/x", "1"},
		`c:\dir\bundle:v1`: {`c:\dir\bundle`, "v1"},
	} {
		if path, tag := splitTag(text); path != want[0] || tag != want[1] {
			t.Errorf("%q is %q and %q", text, path, tag)
		}
	}
}

func TestAuthoritiesOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	must.NoError(t, os.WriteFile(file, []byte("pem"), 0o600))
	dir := must.Value(Authorities(file))(t)
	defer os.RemoveAll(dir)
	must.Equal(t, "read file", string(must.Value(os.ReadFile(filepath.Join(dir, "root.crt")))(t)), "pem")
	if _, err := Authorities(file + "x"); err == nil {
		t.Error("a file that is not there is read")
	}
}
