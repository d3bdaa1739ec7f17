package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
)

// files makes a file system of paths and contents.
func files(contents map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range contents {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// custom is a YAML document of another schema.
func custom(name string) string { return "---\nschema: custom\nname: " + name + "\n" }

// names lists the other objects of a catalog with their places.
func names(c *Catalog) []string {
	var all []string
	for _, o := range c.Others {
		all = append(all, o.Position.String()+" "+o.Name)
	}
	return all
}

func TestLoadOrderDoesNotDependOnWorkers(t *testing.T) {
	contents := map[string]string{}
	var want []string
	for i := range 20 {
		name := fmt.Sprintf("%02d/catalog.yaml", i)
		for j := range 50 {
			object := fmt.Sprintf("o%d-%d", i, j)
			padding := strings.Repeat("# padding\n", (i*7+j*13)%97)
			line := 2 + strings.Count(contents[name], "\n")
			contents[name] += custom(object) + padding
			want = append(want, fmt.Sprintf("%s:%d %s", name, line, object))
		}
		contents[name] += "---\nschema: [broken]\n"
	}
	var texts []string
	for _, workers := range []int{1, 2, 16} {
		c, err := Load(context.Background(), files(contents), LoadOptions{Workers: workers})
		must.Equal(t, fmt.Sprintf("objects with %d workers", workers), names(c), want)
		texts = append(texts, err.Error())
	}
	if texts[0] != texts[1] || texts[0] != texts[2] || !strings.Contains(texts[0], "20 problems:") {
		t.Errorf("errors differ:\n%s", strings.Join(texts, "\n\n"))
	}
}

func TestLoadFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		must.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		must.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	link := func(target, name string) {
		t.Helper()
		must.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	// As the kubelet lays out the volume of a ConfigMap.
	write("volume/..2026_08_21/a.yaml", custom("a"))
	link("..2026_08_21", "volume/..data")
	link("..data/a.yaml", "volume/a.yaml")
	// A directory elsewhere, and one that leads back.
	write("real/b.yaml", custom("b"))
	write("other/real.yaml", custom("c"))
	link("../real", "other/linked")
	link("..", "other/up")
	link(".", "other/self")

	c, err := Load(context.Background(), os.DirFS(dir), LoadOptions{})
	must.NoError(t, err)
	want := []string{"other/linked/b.yaml:2 b", "other/real.yaml:2 c", "real/b.yaml:2 b", "volume/a.yaml:2 a"}
	must.Equal(t, "objects", names(c), want)

	link("nowhere", "dangling.yaml")
	c, err = Load(context.Background(), os.DirFS(dir), LoadOptions{})
	must.Fail(t, "Load", err, "dangling.yaml: error: cannot be read")
	if len(c.Others) != 4 {
		t.Errorf("the other objects were not loaded: %v", names(c))
	}
}

// failing is a file system in which one file cannot be opened.
type failing struct {
	fs.FS
	name string
}

func (f failing) Open(name string) (fs.File, error) {
	if name == f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.FS.Open(name)
}

func TestLoadReportsUnreadableFiles(t *testing.T) {
	fsys := files(map[string]string{"a.yaml": custom("a"), "b/.indexignore": "x", "b/b.yaml": custom("b")})
	for name, want := range map[string]string{
		"a.yaml":         "a.yaml: error: cannot be read: open a.yaml: permission denied [file-unreadable]; make it readable, remove it, or list it in an .indexignore file",
		"b/.indexignore": "b/.indexignore: error: cannot be read: open b/.indexignore: permission denied [file-unreadable]; make it readable, remove it, or list it in an .indexignore file",
		"b":              "b: error: cannot be read: open b: permission denied [file-unreadable]; make it readable, remove it, or list it in an .indexignore file",
	} {
		c, err := Load(context.Background(), failing{fsys, name}, LoadOptions{})
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if len(c.Others) == 0 {
			t.Errorf("nothing was loaded without %s", name)
		}
	}
	fsys[".indexignore"] = &fstest.MapFile{Data: []byte("/b\n")}
	c, err := Load(context.Background(), failing{fsys, "b"}, LoadOptions{})
	want := "b: warning: the directory, which is left out, cannot be read: open b: permission denied [file-unreadable]"
	if err != nil || len(c.LoadProblems) != 1 || c.LoadProblems[0].String() != want {
		t.Errorf("left out: error %v, problems %v, want %s", err, c.LoadProblems, want)
	}
	if _, err := Load(context.Background(), os.DirFS(filepath.Join(t.TempDir(), "none")), LoadOptions{}); !errors.As(err, new(*InvalidError)) {
		t.Errorf("a directory that does not exist: error %v", err)
	}
	if _, err := Load(context.Background(), nil, LoadOptions{}); err == nil {
		t.Error("no file system: no error")
	}
}

// cancelling is a file system that ends a context when a file is opened.
type cancelling struct {
	fs.FS
	name   string
	cancel func()
}

func (f cancelling) Open(name string) (fs.File, error) {
	if name == f.name {
		f.cancel()
	}
	return f.FS.Open(name)
}

func TestLoadStopsWithItsContext(t *testing.T) {
	fsys := files(map[string]string{"a/a.yaml": custom("a"), "b/b.yaml": custom("b"), "c/c.yaml": custom("c")})
	for _, name := range []string{".", "b", "b/b.yaml", "c/c.yaml"} {
		ctx, cancel := context.WithCancel(context.Background())
		c, err := Load(ctx, cancelling{fsys, name, cancel}, LoadOptions{})
		if c != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("ended while %s was opened: catalog %v, error %v", name, c, err)
		}
	}
}

func TestLoadLimits(t *testing.T) {
	many := strings.Repeat(custom("x"), 10)
	channel := func(entries string) string {
		return "schema: olm.channel\npackage: p\nname: c\nentries: " + entries + "\n"
	}
	tests := map[string]struct {
		limits  Limits
		text    string
		want    string // part of the error; empty when there is none
		objects int
	}{
		"file":                {Limits{FileBytes: 100}, many, "a.yaml: error: the file is larger than the limit [limit]", 1},
		"file, just":          {Limits{FileBytes: int64(len(many))}, many, "", 11},
		"total":               {Limits{TotalBytes: int64(len(many))}, many, "z.yaml: error: the catalog is larger than the limit; the rest was not read [limit]", 10},
		"total, just":         {Limits{TotalBytes: int64(len(many) + len(custom("z")))}, many, "", 11},
		"document":            {Limits{DocumentBytes: 30}, custom(strings.Repeat("x", 30)) + custom("w"), "a.yaml:2: error: a document has more than 30 bytes [limit]", 2},
		"document of aliases": {Limits{DocumentBytes: 200}, "schema: custom\na: &a " + strings.Repeat("x", 100) + "\nb: [*a, *a, *a, *a]\n", "a.yaml:3: error: this is not YAML: the document is larger than the limit once its aliases are replaced", 1},
		"files":               {Limits{Files: 2}, many, "z.yaml: error: there are more than 2 files and directories [limit]", 10},
		"files, just":         {Limits{Files: 3}, many, "", 11},
		"documents":           {Limits{Documents: 5}, many, "a.yaml:17: error: there are more than 5 documents; the rest was not read [limit]", 5},
		"documents, just":     {Limits{Documents: 11}, many, "", 11},
		"depth, YAML":         {Limits{Depth: 3}, "schema: custom\na: [[{b: c}]]\n", "a.yaml:2: error: this is not YAML: lists and objects are nested too deeply", 1},
		"depth, YAML blocks":  {Limits{Depth: 3}, "schema: custom\na:\n- - b: c\n", "a.yaml:3: error: this is not YAML: lists and objects are nested too deeply", 1},
		"depth, JSON":         {Limits{Depth: 3}, `{"schema":"custom","a":[[{"b":1}]]}`, "a.yaml:1: error: this is not JSON: lists and objects are nested too deeply", 1},
		"depth, just":         {Limits{Depth: 4}, "schema: custom\na:\n- - b: c\n" + `---` + "\n" + `{"schema":"custom","a":[[{"b":1}]]}`, "", 3},
		"aliases":             {Limits{Aliases: 2}, "schema: custom\na: &a b\nc: [*a, *a, *a]\n", "a.yaml:3: error: this is not YAML: the document uses too many aliases", 1},
		"aliases, just":       {Limits{Aliases: 3}, "schema: custom\na: &a b\nc: [*a, *a, *a]\n", "", 2},
		"entries":             {Limits{Items: 5}, channel("[{}, {}, {}, {}, {}, {}]"), `a.yaml:1: error: channel "c" of package "p": "entries" has more than 5 items [limit]`, 1},
		"properties":          {Limits{Items: 5}, "schema: olm.bundle\nproperties: [{}, {}, {}, {}, {}, {}]\n", `"properties" has more than 5 items [limit]`, 1},
		"fields":              {Limits{Items: 5}, "schema: custom\na: 1\nb: 2\nc: 3\nd: 4\ne: 5\n", "the object has more than 5 fields [limit]", 1},
		"problems":            {Limits{Problems: 3}, strings.Repeat("---\n{}\n", 50), "47 more problems like these are not listed", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fsys := files(map[string]string{"a.yaml": test.text, "sub/.indexignore": "x", "z.yaml": custom("z")})
			c, err := Load(context.Background(), fsys, LoadOptions{Limits: test.limits})
			switch {
			case test.want == "" && err != nil:
				t.Errorf("error: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %s", err, test.want)
			}
			if len(c.Others) != test.objects {
				t.Errorf("%d objects %v, want %d", len(c.Others), names(c), test.objects)
			}
		})
	}
}

func TestLoadLimitsIgnoreFiles(t *testing.T) {
	for _, text := range []string{strings.Repeat("a\n", maxIgnorePatterns+1), strings.Repeat("#", maxIgnoreBytes+1)} {
		fsys := files(map[string]string{"a.yaml": custom("a"), ".indexignore": text})
		if _, err := Load(context.Background(), fsys, LoadOptions{}); err == nil || !strings.Contains(err.Error(), ".indexignore: error: the file has more than") {
			t.Errorf("error %v, want the limit", err)
		}
	}
}

func TestLoadReplacesInvalidUTF8(t *testing.T) {
	c, err := Load(context.Background(), files(map[string]string{"a.json": "{\"schema\":\"custom\",\"name\":\"a\xffb\"}"}), LoadOptions{})
	if err != nil || c.Others[0].Name != "a\ufffdb" || bytes.Contains(c.Others[0].Blob, []byte{0xff}) {
		t.Errorf("error %v, objects %q", err, c.Others)
	}
}

func TestLoadPassesOverDevices(t *testing.T) {
	fsys := files(map[string]string{"a.yaml": custom("a")})
	fsys["device"] = &fstest.MapFile{Mode: fs.ModeDevice}
	c, err := Load(context.Background(), fsys, LoadOptions{})
	want := "device: warning: this is neither a file nor a directory; it was passed over [file-not-catalog]"
	if err != nil || len(c.LoadProblems) != 1 || c.LoadProblems[0].String() != want {
		t.Errorf("error %v, problems %v, want %s", err, c.LoadProblems, want)
	}
}

// breaking is a file system whose files break off while they are read.
type breaking struct{ fs.FS }

type breakingFile struct{ fs.File }

func (breakingFile) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

func (f breaking) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if err != nil || name == "." {
		return file, err
	}
	return breakingFile{file}, nil
}

func TestLoadReportsFilesThatBreakOff(t *testing.T) {
	c, err := Load(context.Background(), breaking{files(map[string]string{"a.yaml": custom("a"), ".indexignore": "x", "readme.md": "x"})}, LoadOptions{})
	for _, want := range []string{
		".indexignore: error: cannot be read: the disk is gone [file-unreadable]",
		"a.yaml: error: cannot be read: the disk is gone [file-unreadable]",
		"readme.md: error: cannot be read: the disk is gone [file-unreadable]",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if len(c.Others) != 0 {
		t.Errorf("objects %v were loaded from nowhere", names(c))
	}
}

func TestLoadFileIsLoadOfOneFile(t *testing.T) {
	const text = "schema: olm.package\nname: p\n---\nschema: olm.channel\nname: [c]\n"
	tree, treeErr := Load(t.Context(), fstest.MapFS{"c.yaml": {Data: []byte(text)}}, LoadOptions{})
	file, fileErr := LoadFile(t.Context(), "c.yaml", strings.NewReader(text), LoadOptions{})
	if diff := cmp.Diff(tree, file); diff != "" {
		t.Errorf("catalog (-directory +file):\n%s", diff)
	}
	if len(file.Packages) != 1 || fileErr == nil || treeErr == nil || fileErr.Error() != treeErr.Error() {
		t.Errorf("errors: directory %v, file %v", treeErr, fileErr)
	}
}
