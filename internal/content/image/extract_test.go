package image

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"github.com/opencontainers/go-digest"
)

// extract merges layers, given as they would be sent, into a pack.
func extract(t testing.TB, wanted func(string) bool, limits Limits, layers ...[]byte) (*pack, error) {
	t.Helper()
	dir := t.TempDir()
	out := must.Value(os.CreateTemp(dir, ""))(t)
	t.Cleanup(func() { _ = out.Close() })
	names := must.Value(os.CreateTemp(dir, ""))(t)
	defer names.Close()
	if wanted == nil {
		wanted = func(string) bool { return true }
	}
	x := extraction{budget: budget{limits: limits.withDefaults()}, wanted: wanted, merge: newMerger(), out: newPackWriter(out, names)}
	for _, data := range layers {
		d := descriptor{Digest: digest.FromBytes(data), Size: int64(len(data))}
		if err := x.layer(newBlob(bytes.NewReader(data), io.NopCloser(nil), d)); err != nil {
			return nil, err
		}
	}
	files, err := x.files()
	if err != nil {
		return nil, err
	}
	must.NoError(t, x.out.finish(packIndex{Files: files}))
	return openPack(out)
}

// filesOf returns the files of a pack.
func filesOf(t testing.TB, p *pack) map[string]string {
	t.Helper()
	contents := map[string]content{}
	for name, where := range p.index.Files {
		contents[name] = content{p.file, where}
	}
	return readAll(t, newTree(contents))
}

func TestLayersMerge(t *testing.T) {
	t.Parallel()
	type layer = []entry
	type files = map[string]string
	tests := map[string]struct {
		layers []layer
		want   files
	}{
		"an upper file replaces a lower one":        {[]layer{{file("a", "1"), file("b", "1")}, {file("a", "2")}}, files{"a": "2", "b": "1"}},
		"the later entry of a layer wins":           {[]layer{{file("a", "1"), file("a", "2")}}, files{"a": "2"}},
		"a file replaces a directory":               {[]layer{{file("a/b", "1")}, {file("a", "2")}}, files{"a": "2"}},
		"a directory replaces a file":               {[]layer{{file("a", "1")}, {file("a/b", "2")}}, files{"a/b": "2"}},
		"a directory entry replaces a file":         {[]layer{{file("a", "1")}, {dir("a/")}}, files{}},
		"a directory entry keeps a directory":       {[]layer{{file("a/b", "1")}, {dir("a/")}}, files{"a/b": "1"}},
		"a device replaces a file":                  {[]layer{{file("a", "1")}, {{name: "a", kind: '3'}}}, files{}},
		"names are cleaned":                         {[]layer{{file("./a//b/./c", "1")}}, files{"a/b/c": "1"}},
		"the root itself":                           {[]layer{{dir("./"), file("a", "1")}}, files{"a": "1"}},
		"a whiteout hides a file":                   {[]layer{{file("d/a", "1"), file("d/b", "1")}, {whiteout("d/.wh.a")}}, files{"d/b": "1"}},
		"a whiteout at the root":                    {[]layer{{file("a", "1")}, {whiteout(".wh.a")}}, files{}},
		"a whiteout hides a directory":              {[]layer{{file("d/a", "1"), file("e", "1")}, {whiteout(".wh.d")}}, files{"e": "1"}},
		"a whiteout spares its own layer, before":   {[]layer{{file("d/a", "1")}, {file("d/b", "2"), whiteout(".wh.d")}}, files{"d/b": "2"}},
		"a whiteout spares its own layer, after":    {[]layer{{file("d/a", "1")}, {whiteout(".wh.d"), file("d/b", "2")}}, files{"d/b": "2"}},
		"a whiteout spares a file of its own layer": {[]layer{{file("a", "1")}, {file("a", "2"), whiteout(".wh.a")}}, files{"a": "2"}},
		"a whiteout of nothing":                     {[]layer{{file("a", "1")}, {whiteout("x/.wh.y"), whiteout("a/.wh.b")}}, files{"a": "1"}},
		"a whiteout does not reach later layers":    {[]layer{{file("a", "1")}, {whiteout(".wh.a")}, {file("a", "3")}}, files{"a": "3"}},
		"an opaque directory hides what is below":   {[]layer{{file("d/a", "1"), file("d/s/b", "1"), file("e", "1")}, {file("d/c", "2"), whiteout("d/.wh..wh..opq")}}, files{"d/c": "2", "e": "1"}},
		"an opaque directory, marked first":         {[]layer{{file("d/a", "1")}, {whiteout("d/.wh..wh..opq"), file("d/c", "2")}}, files{"d/c": "2"}},
		"an opaque root":                            {[]layer{{file("d/a", "1")}, {whiteout(".wh..wh..opq"), file("e", "2")}}, files{"e": "2"}},
		"opaque twice, in two layers":               {[]layer{{file("d/a", "1")}, {whiteout("d/.wh..wh..opq"), file("d/b", "2")}, {whiteout("d/.wh..wh..opq"), file("d/c", "3")}}, files{"d/c": "3"}},
		"bookkeeping and nonsense hide nothing":     {[]layer{{file("a", "1")}, {whiteout(".wh..wh.plnk"), whiteout(".wh."), whiteout(".wh.."), whiteout(".wh...")}}, files{"a": "1"}},
		"a hard link is a file":                     {[]layer{{file("a", "1"), hardlink("b", "a")}}, files{"a": "1", "b": "1"}},
		"a hard link to a lower layer":              {[]layer{{file("a", "1")}, {hardlink("d/b", "./a"), whiteout(".wh.a")}}, files{"d/b": "1"}},
		"a hard link stays when its target changes": {[]layer{{file("a", "1"), hardlink("b", "a")}, {file("a", "2")}}, files{"a": "2", "b": "1"}},
		"a hard link to nothing replaces":           {[]layer{{file("b", "1")}, {hardlink("b", "gone")}}, files{}},
		"a hard link to a directory":                {[]layer{{file("d/a", "1"), hardlink("b", "d")}}, files{"d/a": "1"}},
		"a hard link to a symbolic link":            {[]layer{{file("a", "1"), symlink("s", "a"), hardlink("b", "s")}}, files{"a": "1", "s": "1", "b": "1"}},
		"a symbolic link is resolved":               {[]layer{{file("d/a", "1"), symlink("d/s", "a"), symlink("t", "d/a"), symlink("u", "/d/a")}}, files{"d/a": "1", "d/s": "1", "t": "1", "u": "1"}},
		"a symbolic link to a sibling's directory":  {[]layer{{file("d/a", "1"), file("d/e/b", "2"), symlink("d/e/s", "../a"), symlink("t", "d/e/../a")}}, files{"d/a": "1", "d/e/b": "2", "d/e/s": "1", "t": "1"}},
		"a symbolic link to a later layer":          {[]layer{{symlink("s", "a")}, {file("a", "2")}}, files{"a": "2", "s": "2"}},
		"a symbolic link through a directory link":  {[]layer{{file("..2024/a", "1"), symlink("..data", "..2024"), symlink("a", "..data/a")}}, files{"..2024/a": "1", "a": "1"}},
		"a symbolic link to a directory":            {[]layer{{file("d/a", "1"), symlink("s", "d")}}, files{"d/a": "1"}},
		"a symbolic link past a file":               {[]layer{{file("a", "1"), symlink("s", "a/b")}}, files{"a": "1"}},
		"links in a circle":                         {[]layer{{symlink("a", "b"), symlink("b", "a"), symlink("c", "c")}}, files{}},
		"a link replaced by a directory":            {[]layer{{file("d/a", "1"), symlink("s", "d")}, {file("s/b", "2")}}, files{"d/a": "1", "s/b": "2"}},
		"the root is the top for links":             {[]layer{{file("a", "1"), symlink("d/s", "../../../a"), symlink("d/t", "../../../../etc/passwd")}}, files{"a": "1", "d/s": "1"}},
		"an empty layer":                            {[]layer{{}, {file("a", "1")}, {}}, files{"a": "1"}},
		"an empty file":                             {[]layer{{file("a", "")}}, files{"a": ""}},
		"odd names":                                 {[]layer{{file("..a", "1"), file("b\nc", "2"), file("...", "3"), file("d\\e", "4")}}, files{"..a": "1", "b\nc": "2", "...": "3", "d\\e": "4"}},
		"a name that is no text":                    {[]layer{{file("a\xff", "1"), file("b", "1")}}, files{"b": "1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var layers [][]byte
			for _, l := range tt.layers {
				layers = append(layers, gzipOf(t, tarOf(t, l...)))
			}
			p := must.Value(extract(t, nil, Limits{}, layers...))(t)
			must.Equal(t, "files", filesOf(t, p), tt.want)
		})
	}
}

func TestUnwantedNamesStillReplace(t *testing.T) {
	t.Parallel()
	lower := tarOf(t, file("m/a", "1"), file("m/b", "1"), symlink("m/dir", "b"), file("m/sub.unwanted/c", "1"))
	upper := tarOf(t, hardlink("m/a", "other/target"), file("m/dir/unwanted", "2"), file("m/sub.unwanted", "2"), file("other/target", "2"), symlink("m/c", "/other/target"))
	p := must.Value(extract(t, func(p string) bool { return strings.HasPrefix(p, "m/") && !strings.HasSuffix(p, "unwanted") }, Limits{}, lower, upper))(t)
	must.Equal(t, "files", filesOf(t, p), map[string]string{"m/b": "1"})
	for name, want := range map[string]bool{"other/target": true, "m/dir/unwanted": true, "m/b": false, "elsewhere": false} {
		if got, err := p.lacks(func(p string) bool { return p == name }); got != want || err != nil {
			t.Errorf("lacks(%s) = %v, %v, want %v", name, got, err, want)
		}
	}
}
