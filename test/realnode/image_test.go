package realnode

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"fairlead.dev/fairlead/test/must"
)

// pushImage builds the program of the pods and pushes it to the cluster's registry.
func (w *world) pushImage() {
	w.Helper()
	file := filepath.Join(w.TempDir(), "program")
	w.command(".", "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, "./program")
	content := must.Value(os.ReadFile(file))(w)
	var archive bytes.Buffer
	t := tar.NewWriter(&archive)
	must.NoError(w, t.WriteHeader(&tar.Header{Name: "program", Mode: 0o755, Size: int64(len(content))}))
	must.Value(t.Write(content))(w)
	must.NoError(w, t.WriteHeader(&tar.Header{Name: "manager", Typeflag: tar.TypeSymlink, Linkname: "program"})) // as most operators are called
	must.NoError(w, t.Close())
	layer := must.Value(tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }))(w)
	image := must.Value(mutate.AppendLayers(empty.Image, layer))(w)
	w.made = must.Value(mutate.ConfigFile(image, func() *v1.ConfigFile {
		config := must.Value(image.ConfigFile())(w).DeepCopy()
		config.OS, config.Architecture = "linux", runtime.GOARCH
		config.Config = v1.Config{Entrypoint: []string{"/program"}, User: "65532"}
		return config
	}()))(w)
	w.image = w.status.Registry + "/test/program:1"
	w.pushAs(w.image)
}

// pushAs gives the image of the program one more name in the cluster's registry.
func (w *world) pushAs(ref string) {
	w.Helper()
	must.NoError(w, remote.Write(must.Value(name.ParseReference(ref))(w), w.made))
}

// pushManager releases the working tree, as a commit that no branch has, and pushes the image of it. It returns its name.
func (w *world) pushManager() string {
	w.Helper()
	root, dir := filepath.Join("..", ".."), w.TempDir()
	index := "GIT_INDEX_FILE=" + filepath.Join(dir, "index")
	w.command(root, "env", index, "git", "read-tree", "HEAD")
	w.command(root, "env", index, "git", "add", "--all")
	tree := w.command(root, "env", index, "git", "write-tree")
	commit := w.command(root, "git", "-c", "user.name=test", "-c", "user.email=test@localhost", "commit-tree", "-p", "HEAD", "-m", "the tree that is tested", tree)
	source := filepath.Join(dir, "source")
	w.command(root, "git", "clone", "--quiet", "--shared", "--no-checkout", ".", source)
	w.command(source, "git", "checkout", "--quiet", "--detach", commit)
	image := w.status.Registry + "/fairlead/fairlead-manager:test"
	w.Log(w.command(source, "go", "run", "-trimpath", "./cmd/fairlead-release", "--out", filepath.Join(dir, "release"), "--push", image))
	return image
}

// command runs a program that has to succeed, and returns what it prints.
func (w *world) command(dir string, args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		w.Fatalf("%v: %v\n%s%s", args, err, &out, &errs)
	}
	return strings.TrimSpace(out.String())
}
