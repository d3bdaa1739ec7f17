//go:build unix

package catalog

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf16"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
)

// onDisk makes a directory of files and, where the content begins with "-> ",
// of symbolic links.
func onDisk(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		path := filepath.Join(dir, name)
		must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		target, isLink := strings.CutPrefix(text, "-> ")
		err := error(nil)
		if isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		must.NoError(t, err)
	}
	return dir
}

// loadWithin loads a tree and fails if that takes long: what can block forever
// must not be opened at all.
func loadWithin(t *testing.T, bound time.Duration, fsys fs.FS, opts LoadOptions) (c *Catalog, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err = Load(context.Background(), fsys, opts)
	}()
	select {
	case <-done:
		return c, err
	case <-time.After(bound):
		t.Fatalf("not loaded after %v", bound)
		return nil, nil
	}
}

func TestLoadSpecialFiles(t *testing.T) {
	dir := onDisk(t, map[string]string{"a.yaml": custom("a"), "null.yaml": "-> /dev/null", "zero.yaml": "-> /dev/zero"})
	must.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600))
	t.Chdir(dir) // the path of a socket is short
	socket := must.Value(net.Listen("unix", "socket.yaml"))(t)
	defer socket.Close()

	c, err := loadWithin(t, 10*time.Second, os.DirFS("."), LoadOptions{})
	must.NoError(t, err)
	var got []string
	for _, p := range c.LoadProblems {
		got = append(got, p.Position.File+" "+string(p.Rule))
	}
	want := []string{"null.yaml file-not-catalog", "pipe.yaml file-not-catalog", "socket.yaml file-not-catalog", "zero.yaml file-not-catalog"}
	if diff := cmp.Diff(want, got); diff != "" || len(c.Others) != 1 {
		t.Errorf("objects %v, problems (-want +got):\n%s", names(c), diff)
	}
	// Left out, they are not spoken of.
	must.NoError(t, os.WriteFile(".indexignore", []byte("*\n!a.yaml\n"), 0o600))
	if c, err = loadWithin(t, 10*time.Second, os.DirFS("."), LoadOptions{}); err != nil || c.LoadProblems != nil {
		t.Errorf("left out: error %v, problems %v", err, c.LoadProblems)
	}
}

// TestLoadLinksOutOfTheTree: whether links may lead out is up to the file
// system that is given.
func TestLoadLinksOutOfTheTree(t *testing.T) {
	outside := onDisk(t, map[string]string{"secret.yaml": custom("secret"), "deep/secret.yaml": custom("deeper")})
	dir := onDisk(t, map[string]string{
		"a.yaml": custom("a"), "file.yaml": "-> " + outside + "/secret.yaml", "dir": "-> " + outside + "/deep", "up": "-> ../../../../../../../../../..",
	})
	root := must.Value(os.OpenRoot(dir))(t)
	defer root.Close()
	c, err := loadWithin(t, 10*time.Second, root.FS(), LoadOptions{})
	must.Equal(t, "objects", names(c), []string{"a.yaml:2 a"})
	for _, name := range []string{"dir", "file.yaml", "up"} {
		if err == nil || !strings.Contains(err.Error(), name+": error: cannot be read") {
			t.Errorf("error %v, want the link %s to be refused", err, name)
		}
	}

	must.NoError(t, os.Remove(filepath.Join(dir, "up")))
	c, err = loadWithin(t, 10*time.Second, os.DirFS(dir), LoadOptions{})
	if diff := cmp.Diff([]string{"a.yaml:2 a", "dir/secret.yaml:2 deeper", "file.yaml:2 secret"}, names(c)); diff != "" || err != nil {
		t.Errorf("error %v, objects (-want +got):\n%s", err, diff)
	}
}

// TestLoadLinkedDirectories: each of 12 directories links to all others, which
// makes more paths than can ever be walked.
func TestLoadLinkedDirectories(t *testing.T) {
	contents := map[string]string{}
	for i := range 12 {
		contents[fmt.Sprintf("d%02d/a.yaml", i)] = custom("a")
		for j := range 12 {
			contents[fmt.Sprintf("d%02d/to%02d", i, j)] = fmt.Sprintf("-> ../d%02d", j)
		}
	}
	dir := onDisk(t, contents)
	_, err := loadWithin(t, time.Minute, os.DirFS(dir), LoadOptions{Limits: Limits{Files: 20_000}})
	must.Fail(t, "loadWithin", err, "there are more than 20000 files and directories")
}

// growing is a file that somebody goes on writing to.
type growing struct{ fs.FS }

type growingFile struct {
	fs.File
	text string
}

func (f growingFile) Read(p []byte) (int, error) { return copy(p, f.text), nil }

func (g growing) Open(name string) (fs.File, error) {
	file, err := g.FS.Open(name)
	if err != nil || name != "log.yaml" {
		return file, err
	}
	return growingFile{file, custom("x")}, nil
}

func TestLoadGrowingFile(t *testing.T) {
	fsys := growing{files(map[string]string{"log.yaml": "", "z.yaml": custom("z")})}
	c, err := loadWithin(t, time.Minute, fsys, LoadOptions{Limits: Limits{FileBytes: 1 << 20}})
	must.Fail(t, "loadWithin", err, "log.yaml: error: the file is larger than the limit")
	if n := len(c.Others); n < 1000 || c.Others[n-1].Name != "z" {
		t.Errorf("%d objects, want those before the limit and those of the next file", n)
	}
}

func TestLoadUTF16(t *testing.T) {
	text := []byte("\xff\xfe")
	for _, unit := range utf16.Encode([]rune(strings.ReplaceAll(custom("ü😀")+custom("b"), "\n", "\r\n"))) {
		text = append(text, byte(unit), byte(unit>>8))
	}
	c, err := Load(context.Background(), fstest.MapFS{"a.yaml": {Data: text}}, LoadOptions{})
	if diff := cmp.Diff([]string{"a.yaml:2 ü😀", "a.yaml:5 b"}, names(c)); diff != "" || err != nil {
		t.Errorf("error %v, objects (-want +got):\n%s", err, diff)
	}
}
