package image

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"
)

// FuzzLayers extracts two arbitrary layers and checks what must hold for all:
// limits are kept, the result is a sound file system of regular files, nothing
// appears outside the two scratch files, and the same input gives the same
// result.
func FuzzLayers(f *testing.F) {
	seeds := [][]entry{
		{file("m/a", "1"), hardlink("m/b", "m/a"), symlink("m/c", "../m/a"), dir("m/d/")},
		{whiteout("m/.wh.a"), whiteout(".wh..wh..opq"), file("../x", "1"), file("/abs", "1")},
		{file(strings.Repeat("p/", 150)+"q", "long"), {name: "m/dev", kind: '3'}},
	}
	for _, lower := range seeds {
		for _, upper := range seeds {
			f.Add(tarOf(f, lower...), tarOf(f, upper...))
		}
		f.Add(gzipOf(f, tarOf(f, lower...)), zstdOf(f, tarOf(f, lower...)))
	}
	limits := Limits{CompressedBytes: mib, ExpandedBytes: mib, KeptBytes: 1000, FileBytes: 500, Entries: 200, Files: 20, PathLength: 100}
	wanted := func(p string) bool { return !strings.HasPrefix(p, "x") }
	f.Fuzz(func(t *testing.T, lower, upper []byte) {
		p, err := extract(t, wanted, limits, lower, upper)
		again, errAgain := extract(t, wanted, limits, lower, upper)
		if (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
			t.Fatalf("two answers: %v and %v", err, errAgain)
		}
		if err != nil {
			if kind := KindOf(err); kind != InvalidImage && kind != LimitExceeded {
				t.Fatalf("error of kind %q: %v", kind, err)
			}
			return
		}
		checkPack(t, p, limits)
		if want, _ := json.Marshal(p.index); string(want) != string(mustMarshal(t, again.index)) {
			t.Fatalf("two results: %s and %s", want, mustMarshal(t, again.index))
		}
		// Allow nothing but regular files with the names of scratch files.
		dir := filepath.Dir(p.file.Name())
		for _, name := range readDirNames(t, dir) {
			info, err := os.Lstat(filepath.Join(dir, name))
			if err != nil || !info.Mode().IsRegular() || strings.Trim(name, "0123456789") != "" {
				t.Errorf("%s appeared in %s: %v", name, dir, err)
			}
		}
	})
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	data := must.Value(json.Marshal(v))(t)
	return data
}

// checkPack checks the files of a pack against the limits.
func checkPack(t *testing.T, p *pack, limits Limits) {
	t.Helper()
	var total int64
	var names []string
	contents := map[string]content{}
	for name, where := range p.index.Files {
		if !fs.ValidPath(name) || len(name) > limits.PathLength || strings.HasPrefix(name, "x") {
			t.Errorf("a file is named %q", name)
		}
		if where.Size > limits.FileBytes || where.Offset < 0 || where.Offset+where.Size > p.namesAt {
			t.Errorf("%q lies at %+v", name, where)
		}
		total += where.Size
		names = append(names, name)
		contents[name] = content{p.file, where}
	}
	if total > limits.KeptBytes || len(names) > limits.Files {
		t.Errorf("%d bytes in %d files", total, len(names))
	}
	files := newTree(contents)
	if got := readAll(t, files); len(got) != len(names) {
		t.Errorf("the file system has %d of %d files", len(got), len(names))
	}
	if err := fstest.TestFS(files, names...); err != nil {
		t.Error(err)
	}
}

// FuzzPack opens arbitrary files as packs: they are refused, or hold together.
func FuzzPack(f *testing.F) {
	p := must.Value(extract(f, func(p string) bool { return p != "skipped" }, Limits{}, tarOf(f, file("a", "1"), file("skipped", "2"))))(f)
	whole := must.Value(os.ReadFile(p.file.Name()))(f)
	f.Add(whole)
	f.Add(whole[1:])
	f.Add([]byte(packMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "pack")
		writeFile(t, path, data)
		file := must.Value(os.Open(path))(t)
		p, err := openPack(file)
		if err != nil {
			return
		}
		defer p.file.Close()
		if _, err := p.lacks(func(string) bool { return false }); err != nil && err != errTorn {
			t.Error(err)
		}
	})
}

// FuzzDocument parses arbitrary manifests; what is accepted can be acted on.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"config":{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":2},"layers":[]}`))
	f.Add([]byte(`{"schemaVersion":2,"manifests":[{"digest":"sha256:` + strings.Repeat("0", 64) + `","platform":{"os":"linux"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parseDocument(data)
		if err != nil {
			if KindOf(err) != InvalidImage {
				t.Errorf("error %v, want %s", err, InvalidImage)
			}
			return
		}
		if (d.Manifests == nil) == (d.Config == nil) {
			t.Errorf("neither or both of index and image: %+v", d)
		}
		if d.Manifests != nil {
			if chosen, err := choose(d.Manifests, "amd64"); err == nil && chosen.Digest.Validate() != nil {
				t.Errorf("chose %+v", chosen)
			}
		}
	})
}
