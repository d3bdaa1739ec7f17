package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// tree is the input that an archive of testdata holds.
func tree(t testing.TB, archive string) fstest.MapFS {
	t.Helper()
	parsed := must.Value(txtar.ParseFile(archive))(t)
	fsys := fstest.MapFS{}
	for _, f := range parsed.Files {
		if f.Name != expected {
			fsys[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return fsys
}

// built is the Index of a tree, from a file and in memory.
func built(t testing.TB, fsys fs.FS, opts LoadOptions) (fromFile, inMemory *Index) {
	t.Helper()
	fromFile = must.Value(Build(context.Background(), fsys, "sha256:0", filepath.Join(t.TempDir(), "index"), opts))(t)
	t.Cleanup(func() {
		if err := fromFile.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := Load(context.Background(), fsys, opts)
	var invalid *InvalidError
	if err != nil && !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	inMemory = must.Value(NewIndex(c, "sha256:0"))(t)
	return fromFile, inMemory
}

// TestIndexFile builds an index file of every catalog in testdata, and expects
// the same answers as from memory.
func TestIndexFile(t *testing.T) {
	for _, name := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			fromFile, inMemory := built(t, tree(t, name), LoadOptions{Workers: 3})
			compareIndexes(t, inMemory, fromFile)
			var want, got bytes.Buffer
			dump(t, &want, inMemory)
			dump(t, &got, fromFile)
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("answers (-in memory +from file):\n%s", diff)
			}
		})
	}
}

// quickly compares as cmp does, only faster: bytes as a whole, and of bundles
// that are compared elsewhere only the names.
var quickly = cmp.Options{
	cmp.Comparer(func(a, b json.RawMessage) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }),
	cmp.Comparer(func(a, b *BundleInfo) bool { return a.Package == b.Package && a.Name == b.Name }),
}

// compareIndexes expects that two indexes give the same answers.
func compareIndexes(t *testing.T, want, got *Index) {
	t.Helper()
	for what, pair := range map[string][2]any{
		"digest":          {want.Digest(), got.Digest()},
		"problems":        {want.Problems(), got.Problems()},
		"names":           {want.PackageNames(), got.PackageNames()},
		"packages":        {want.packages, got.packages},
		"providers":       {want.providers, got.providers},
		"names of v1":     {want.PackageNamesV1(), got.PackageNamesV1()},
		"packages of v1":  {want.v1.packages, got.v1.packages},
		"providers of v1": {want.v1.providers, got.v1.providers},
		"bundles of v1":   {want.v1.bundles, got.v1.bundles},
		"content":         {contentText(t, want), contentText(t, got)},
		"objects":         {objectsText(t, want, ObjectFilter{}), objectsText(t, got, ObjectFilter{})},
	} {
		if diff := cmp.Diff(pair[0], pair[1], quickly); diff != "" {
			t.Errorf("%s (-in memory +from file):\n%.3000s", what, diff)
		}
	}
	if len(want.bundles) != len(got.bundles) {
		t.Errorf("%d bundles, want %d", len(got.bundles), len(want.bundles))
	}
	for key, b := range want.bundles {
		other, ok := got.Bundle(key.pkg, key.name)
		if !ok {
			t.Errorf("no bundle %v", key)
			continue
		}
		if diff := cmp.Diff(*b, *other, quickly); diff != "" {
			t.Errorf("%v (-in memory +from file):\n%.3000s", key, diff)
		}
		for range 2 {
			if diff := cmp.Diff(payloadsText(t, want, b), payloadsText(t, got, other), quickly); diff != "" {
				t.Errorf("payloads of %v (-in memory +from file):\n%.3000s", key, diff)
			}
		}
	}
}

func contentText(t testing.TB, x *Index) string {
	t.Helper()
	content, size := x.Content()
	text := must.Value(io.ReadAll(content))(t)
	if int64(len(text)) != size {
		t.Errorf("the content has %d bytes, not %d", len(text), size)
	}
	return string(text)
}

// objectsText are the objects as JSON lines.
func objectsText(t testing.TB, x *Index, f ObjectFilter) string {
	t.Helper()
	var lines strings.Builder
	for line, err := range x.Objects(f) {
		must.NoError(t, err)
		lines.Write(line)
		lines.WriteString("\n")
	}
	return lines.String()
}

// payloadsText is what an Index reads when it is asked for a bundle's payloads.
func payloadsText(t testing.TB, x *Index, b *BundleInfo) []json.RawMessage {
	t.Helper()
	manifests := must.Value(x.Manifests(b))(t)
	metadata := must.Value(x.CSVMetadata(b))(t)
	return append(manifests, metadata)
}

// TestIndexFileIsDeterministic builds the same file however many workers load
// the catalog.
func TestIndexFileIsDeterministic(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range archives(t) {
		for file, content := range tree(t, name) {
			fsys[filepath.Base(name)+"/"+file] = content
		}
	}
	var first []byte
	for workers := 1; workers < 5; workers++ {
		path := filepath.Join(t.TempDir(), "index")
		x := must.Value(Build(context.Background(), fsys, "sha256:0", path, LoadOptions{Workers: workers}))(t)
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		text := must.Value(os.ReadFile(path))(t)
		if first == nil {
			first = text
		}
		if !bytes.Equal(first, text) {
			t.Errorf("%d workers build another file than one", workers)
		}
	}
}
