package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
)

// awkward is a catalog of which much is refused, and nothing may be lost or
// altered.
const awkward = `
{"schema":"custom","package":"p","name":"x","n":12345678901234567890123,"f":1.10,"a.b/c":{"<z>":1,"a":"\u2028&"}}
{"schema":"custom","name":"nobody's","list":[3, 1, 2]}
{"schema":"olm.package","name":"p","defaultChannel":"c","icon":{"base64data":"AAECAw==","mediatype":"image/png"}}
{"schema":"olm.package","name":"UPPER","defaultChannel":""}
{"schema":"olm.channel","name":"empty","package":"p"}
{"schema":"olm.channel","name":"c","package":"p","entries":[{"name":"p.v1.0.0","replaces":"gone","skips":["a","b"],"skipRange":"<1.0.0"},{"name":"gone"}],
 "properties":[{"type":"t","value":{"b":2,"a":12345678901234567890}}]}
{"schema":"olm.bundle","name":"p.v1.0.0","package":"p","image":"i","relatedImages":[{"name":"","image":"i"}],"properties":[
 {"type":"olm.csv.metadata","value":{"displayName":"D","z":9007199254740993}},
 {"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}},
 {"type":"olm.bundle.object","value":{"data":"eyJhIjogMX0="}},
 {"type":"x","value":null},
 {"type":"olm.bundle.object","value":{"data":"YjogMg==","more":true}}]}
{"schema":"olm.bundle","name":"unlisted","package":"p","properties":[{"type":"olm.csv.metadata","value":[1]},{"type":"olm.csv.metadata"}]}
{"schema":"olm.bundle","package":"nowhere"}
{"schema":"olm.deprecations","package":"p","entries":[{"reference":{"schema":"olm.bundle","name":"none"},"message":"m"}]}
`

const awkwardLines = `{"schema":"olm.package","name":"UPPER","defaultChannel":""}
{"schema":"olm.bundle","package":"nowhere","image":""}
{"schema":"olm.package","name":"p","defaultChannel":"c","icon":{"base64data":"AAECAw==","mediatype":"image/png"}}
{"schema":"olm.channel","name":"c","package":"p","entries":[{"name":"p.v1.0.0","replaces":"gone","skips":["a","b"],"skipRange":"<1.0.0"},{"name":"gone"}],"properties":[{"type":"t","value":{"a":12345678901234567890,"b":2}}]}
{"schema":"olm.channel","name":"empty","package":"p","entries":[]}
{"schema":"olm.bundle","name":"p.v1.0.0","package":"p","image":"i","properties":[{"type":"olm.csv.metadata","value":{"displayName":"D","z":9007199254740993}},{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}},{"type":"olm.bundle.object","value":{"data":"eyJhIjogMX0="}},{"type":"x","value":null},{"type":"olm.bundle.object","value":{"data":"YjogMg==","more":true}}],"relatedImages":[{"name":"","image":"i"}]}
{"schema":"olm.bundle","name":"unlisted","package":"p","image":"","properties":[{"type":"olm.csv.metadata","value":[1]},{"type":"olm.csv.metadata","value":null}]}
{"a.b/c":{"<z>":1,"a":"` + "\u2028" + `&"},"f":1.10,"n":12345678901234567890123,"name":"x","package":"p","schema":"custom"}
{"schema":"olm.deprecations","package":"p","entries":[{"reference":{"schema":"olm.bundle","name":"none"},"message":"m"}]}
{"list":[3,1,2],"name":"nobody's","schema":"custom"}
`

func TestObjects(t *testing.T) {
	fromFile, inMemory := built(t, files(map[string]string{"a.json": awkward}), LoadOptions{})
	for name, x := range map[string]*Index{"from file": fromFile, "in memory": inMemory} {
		for what, got := range map[string]string{"objects": objectsText(t, x, ObjectFilter{}), "content": contentText(t, x)} {
			must.Equal(t, fmt.Sprintf("%s, %s", name, what), got, awkwardLines)
		}
	}
	compareIndexes(t, inMemory, fromFile)
}

func TestObjectFilter(t *testing.T) {
	fromFile, inMemory := built(t, files(map[string]string{"a.json": awkward}), LoadOptions{})
	for name, x := range map[string]*Index{"from file": fromFile, "in memory": inMemory} {
		for filter, want := range map[ObjectFilter][]int{
			{}:                                     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
			{Schema: SchemaBundle}:                 {1, 5, 6},
			{Package: "p"}:                         {3, 4, 5, 6, 7, 8},
			{Name: "p"}:                            {2},
			{Schema: "custom"}:                     {7, 9},
			{Schema: "custom", Package: "p"}:       {7},
			{Schema: SchemaChannel, Name: "empty"}: {4},
			{Schema: SchemaChannel, Name: "none"}:  nil,
			{Package: "P"}:                         nil,
		} {
			lines := strings.SplitAfter(awkwardLines, "\n")
			var expect string
			for _, i := range want {
				expect += lines[i]
			}
			must.Equal(t, fmt.Sprintf("%s, %+v", name, filter), objectsText(t, x, filter), expect)
		}
		n := 0
		for range x.Objects(ObjectFilter{}) {
			if n++; n == 2 {
				break
			}
		}
	}
}

// TestContentIsLikeAFile reads in pieces of all sizes and from all places.
func TestContentIsLikeAFile(t *testing.T) {
	fromFile, inMemory := built(t, files(map[string]string{"a.json": awkward}), LoadOptions{})
	for _, x := range []*Index{fromFile, inMemory} {
		content, _ := x.Content()
		if err := iotest.TestReader(content, []byte(awkwardLines)); err != nil {
			t.Error(err)
		}
		for _, place := range []int64{0, 1, 58, 59, 60, 61, int64(len(awkwardLines)) - 1, int64(len(awkwardLines))} {
			for whence, base := range []int64{0, place, int64(len(awkwardLines))} {
				if at, err := content.Seek(place-base, whence); whence != io.SeekCurrent && (at != place || err != nil) {
					t.Errorf("seek to %d: %d, %v", place, at, err)
				}
			}
			must.Value(content.Seek(place, io.SeekStart))(t)
			if got, err := io.ReadAll(content); err != nil || string(got) != awkwardLines[place:] {
				t.Errorf("from %d: %.50s (%v)", place, got, err)
			}
		}
		for name, seek := range map[string]func() (int64, error){
			"before the beginning": func() (int64, error) { return content.Seek(-1, io.SeekStart) },
			"whence is unknown":    func() (int64, error) { return content.Seek(0, 7) },
		} {
			if _, err := seek(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v, want %s", err, name)
			}
		}
		if at, err := content.Seek(10, io.SeekEnd); err != nil || at != int64(len(awkwardLines))+10 {
			t.Errorf("seek past the end: %d, %v", at, err)
		}
		if n, err := content.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("read past the end: %d, %v", n, err)
		}
	}
}

func TestContentOfNothing(t *testing.T) {
	fromFile, inMemory := built(t, files(nil), LoadOptions{})
	for _, x := range []*Index{fromFile, inMemory} {
		if got := contentText(t, x); got != "" {
			t.Errorf("content %q", got)
		}
	}
}

// TestObjectsThatCannotBeWritten expects errors that name the object, and the
// others all the same.
func TestObjectsThatCannotBeWritten(t *testing.T) {
	c := inMemory(0)
	c.Packages[0].Properties = []Property{{Type: "x", Value: json.RawMessage("{")}}
	x := must.Value(NewIndex(c, "sha256:1"))(t)
	const want = `package "c"`
	good, bad := 0, 0
	for line, err := range x.Objects(ObjectFilter{}) {
		switch {
		case err == nil && json.Valid(line):
			good++
		case err != nil && strings.Contains(err.Error(), want):
			bad++
		default:
			t.Errorf("line %s, error %v", line, err)
		}
	}
	if good != 14 || bad != 1 {
		t.Errorf("%d objects, %d errors", good, bad)
	}
	content, size := x.Content()
	if _, err := io.ReadAll(content); size != 0 || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("size %d, error %v, want %s", size, err, want)
	}
}

// TestClosedIndex asks for what is in the file after it was closed.
func TestClosedIndex(t *testing.T) {
	x := must.Value(Build(context.Background(), files(map[string]string{"a.json": string(written(t, WriteJSON, inMemory(0)))}), "sha256:1", filepath.Join(t.TempDir(), "index"), LoadOptions{}))(t)
	must.NoError(t, x.Close())
	b, ok := x.Bundle("a", "a.v1.10.0")
	if !ok {
		t.Error("a bundle is gone")
	}
	_, manifests := x.Manifests(b)
	_, metadata := x.CSVMetadata(b)
	content, _ := x.Content()
	_, read := io.ReadAll(content)
	for what, err := range map[string]error{"manifests": manifests, "metadata": metadata, "content": read, "verify": x.Verify(context.Background())} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: error %v, want %v", what, err, os.ErrClosed)
		}
	}
}

func TestDropPayloads(t *testing.T) {
	fsys := files(map[string]string{"a.json": awkward})
	whole := must.Value(Load(context.Background(), fsys, LoadOptions{}))(t)
	c := must.Value(Load(context.Background(), fsys, LoadOptions{DropPayloads: true}))(t)
	if diff := cmp.Diff(Validate(whole), Validate(c)); diff != "" {
		t.Errorf("without payloads the verdict is another (-with +without):\n%s", diff)
	}
	x := must.Value(NewIndex(c, "sha256:1"))(t)
	b, _ := x.Bundle("p", "p.v1.0.0")
	_, manifests := x.Manifests(b)
	_, metadata := x.CSVMetadata(b)
	for what, err := range map[string]error{"manifests": manifests, "metadata": metadata, "write": WriteJSON(io.Discard, c)} {
		if !errors.Is(err, errDropped) {
			t.Errorf("%s: error %v, want %v", what, err, errDropped)
		}
	}
}

// TestDropPayloadsOfTestdata expects the same verdict on every catalog.
func TestDropPayloadsOfTestdata(t *testing.T) {
	for _, name := range archives(t) {
		var verdicts []Problems
		for _, drop := range []bool{false, true} {
			c, err := Load(context.Background(), tree(t, name), LoadOptions{DropPayloads: drop})
			var invalid *InvalidError
			if err != nil && !errors.As(err, &invalid) {
				t.Fatal(err)
			}
			verdicts = append(verdicts, Validate(c))
		}
		if diff := cmp.Diff(verdicts[0], verdicts[1]); diff != "" {
			t.Errorf("%s (-with payloads +without):\n%s", name, diff)
		}
	}
}

// TestIndexFileConcurrentReads is of use with the race detector.
func TestIndexFileConcurrentReads(t *testing.T) {
	fromFile, inMemory := built(t, files(map[string]string{"a.json": awkward}), LoadOptions{})
	want := payloadsText(t, inMemory, mustBundle(t, inMemory))
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for range 20 {
				must.Equal(t, "result", payloadsText(t, fromFile, mustBundle(t, fromFile)), want)
				content, _ := fromFile.Content()
				if text, err := io.ReadAll(content); err != nil || string(text) != awkwardLines {
					t.Errorf("content %s, error %v", text, err)
				}
			}
		})
	}
	readers.Wait()
}

func mustBundle(t *testing.T, x *Index) *BundleInfo {
	b, ok := x.Bundle("p", "p.v1.0.0")
	if !ok {
		t.Error("the bundle is not there")
	}
	return b
}

// TestBuildErrors expects that what fails leaves no file.
func TestBuildErrors(t *testing.T) {
	dir := t.TempDir()
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	good := files(map[string]string{"a.json": awkward})
	for name, test := range map[string]struct {
		ctx  context.Context
		fsys fs.FS
		path string
		want string
	}{
		"stopped":        {stopped, good, "index", "context canceled"},
		"no file system": {context.Background(), nil, "index", "no file system was given"},
		"no directory":   {context.Background(), good, "none/index", "no such file or directory"},
	} {
		_, err := Build(test.ctx, test.fsys, "", filepath.Join(dir, test.path), LoadOptions{})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.path) {
			t.Errorf("%s: error %v, want %s", name, err, test.want)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	for _, path := range []string{filepath.Join(dir, "none"), dir} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one that names %s", err, path)
		}
	}
}

// TestSpoolReportsErrors fills up the disk after each number of bytes.
func TestSpoolReportsErrors(t *testing.T) {
	for n := range 40 {
		lines := newSpool(&full{n * 50}, 0)
		must.Value(loadTree(context.Background(), files(map[string]string{"a.json": awkward}), LoadOptions{}, lines))(t)
		if fits := int64(n*50) >= lines.offset; fits != (lines.err == nil) {
			t.Errorf("%d bytes of %d: error %v", n*50, lines.offset, lines.err)
		}
	}
}

// TestBuildWithOneSlowDocument has a document that takes long before many that
// do not, more than may be waiting for it.
func TestBuildWithOneSlowDocument(t *testing.T) {
	var text strings.Builder
	text.WriteString("schema: custom\nslow: &a [" + strings.Repeat("[x, {y: z}], ", 20_000) + "]\n")
	for i := range 10 * maxAhead {
		fmt.Fprintf(&text, "---\nschema: custom\nn: %d\n", i)
	}
	lines := newSpool(io.Discard, 0)
	most := 0
	l := newLoader([]string{"a.yaml"}, LoadOptions{Workers: 4})
	l.open = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text.String())), nil }
	l.spoolTo(lines)
	passed := lines.passed
	lines.passed = func() {
		most = max(most, len(lines.early))
		passed()
	}
	must.Value(l.load(context.Background()))(t)
	if len(lines.objects) != 10*maxAhead+1 {
		t.Errorf("%d objects", len(lines.objects))
	}
	if most > maxAhead || most < 10 {
		t.Errorf("%d documents waited for the first one, want some and at most %d", most, maxAhead)
	}
}

// TestBuildReplaces builds an index where there is one that is being read, and
// expects that each goes on to read its own.
func TestBuildReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	var indexes []*Index
	for i := range 3 {
		x := must.Value(Build(context.Background(), files(map[string]string{"a.json": fmt.Sprintf(`{"schema":"custom","n":%d}`, i)}), fmt.Sprint(i), path, LoadOptions{}))(t)
		defer x.Close()
		indexes = append(indexes, x)
	}
	for i, x := range indexes {
		if want := fmt.Sprintf("{\"n\":%d,\"schema\":\"custom\"}\n", i); x.Digest() != fmt.Sprint(i) || contentText(t, x) != want {
			t.Errorf("digest %s, content %s, want %s", x.Digest(), contentText(t, x), want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	seen := map[string]string{}
	for name, tree := range map[string]map[string]string{
		"nothing":          {},
		"a file":           {"a": "x"},
		"another name":     {"b": "x"},
		"another content":  {"a": "y"},
		"two files":        {"a": "x", "b": ""},
		"content in names": {"a": "", "x": "b"},
		"a bad pattern":    {"a": "x", ".indexignore": "[\n"},
	} {
		digest, err := Fingerprint(context.Background(), files(tree))
		if err != nil || !strings.HasPrefix(digest, "sha256:") || len(digest) != len("sha256:")+64 {
			t.Fatalf("%s: %s, %v", name, digest, err)
		}
		if other, ok := seen[digest]; ok {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[digest] = name
	}
	ignored, err := Fingerprint(context.Background(), files(map[string]string{"a": "x", "README": "", ".indexignore": "README\n"}))
	if err != nil || seen[ignored] != "a file" {
		t.Errorf("with a file that is ignored: %q, error %v", seen[ignored], err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fingerprint(stopped, files(map[string]string{"a": "x"})); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if _, err := Fingerprint(context.Background(), nil); err == nil {
		t.Error("no file system: no error")
	}
	if _, err := Fingerprint(context.Background(), unreadable{files(map[string]string{"a": "x"})}); err == nil || !strings.Contains(err.Error(), "a: broken") {
		t.Errorf("error %v, want one that names the file", err)
	}
}

// unreadable is a file system whose files can be opened and not read.
type unreadable struct{ fs.FS }

func (u unreadable) Open(name string) (fs.File, error) {
	file, err := u.FS.Open(name)
	if name != "a" || err != nil {
		return file, err
	}
	return brokenFile{file}, nil
}

type brokenFile struct{ fs.File }

func (brokenFile) Read([]byte) (int, error) { return 0, errors.New("broken") }

func TestPartsOfALine(t *testing.T) {
	line := []byte(`{"a":{"x":1},"b":{"x":1},"c":null}`)
	payloads := []Payload{{data: blob{packed: []byte(`{"x":1}`), size: 7}}, {data: blob{packed: []byte(`{"x":1}`), size: 7}}, {data: blob{}}}
	s := &stored{}
	partsOf(s, line, payloads)
	for i, want := range []string{`{"x":1}`, `{"x":1}`, ``} {
		b := payloads[i].data
		if got := line[b.from : b.from+b.size]; !bytes.Equal(got, []byte(want)) || b.object != s {
			t.Errorf("part %d is %s, want %s", i, got, want)
		}
	}
}
