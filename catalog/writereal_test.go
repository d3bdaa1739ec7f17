package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// TestRealCatalogIsWrittenAsItWas reads a real catalog and what is written of
// it with the YAML reader of Kubernetes, which knows nothing of catalogs, and
// expects the same objects, whatever their order.
func TestRealCatalogIsWrittenAsItWas(t *testing.T) {
	if testing.Short() {
		t.Skip("reads what TestRealCatalogs reads, and writes it one document after the other")
	}
	dir := realCatalog(t, "community-v4.19")
	var want []string
	must.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		want = append(want, documents(t, text)...)
		return err
	}))
	c := must.Value(Load(context.Background(), os.DirFS(dir), LoadOptions{}))(t)
	slices.Sort(want)
	if len(want) < 800 {
		t.Fatalf("only %d objects were found", len(want))
	}
	var objects []string
	decoder := json.NewDecoder(bytes.NewReader(written(t, WriteJSON, c)))
	for decoder.More() {
		var object any
		must.NoError(t, decoder.Decode(&object))
		objects = append(objects, printed(object))
	}
	slices.Sort(objects)
	compareDocuments(t, "JSON", want, objects)
	objects = documents(t, written(t, WriteYAML, c))
	slices.Sort(objects)
	compareDocuments(t, "YAML", want, objects)
}

// TestFullCatalogIsReadAsItWasWritten writes the largest catalog in both formats
// and reads it again.
func TestFullCatalogIsReadAsItWasWritten(t *testing.T) {
	if !sweep.Whole() {
		t.Skip("large: it is tried with FAIRLEAD_TEST_SWEEP=1")
	}
	c := must.Value(Load(context.Background(), os.DirFS(realCatalog(t, "community-full")), LoadOptions{}))(t)
	want := digest(t, c)
	for _, format := range []Format{JSON, YAML} {
		dir := filepath.Join(t.TempDir(), string(format))
		must.NoError(t, WriteDirectory(context.Background(), dir, c, format))
		again := must.Value(Load(context.Background(), os.DirFS(dir), LoadOptions{}))(t)
		if got := digest(t, again); got != want {
			t.Errorf("%s is read as something else than was written", format)
		}
	}
}

// digest is that of what would be written, without holding it.
func digest(t *testing.T, c *Catalog) string {
	t.Helper()
	hash := sha256.New()
	must.NoError(t, WriteJSON(hash, c))
	return fmt.Sprintf("%x", hash.Sum(nil))
}

// documents are the values of the documents of a file, printed.
func documents(t *testing.T, text []byte) []string {
	t.Helper()
	var all []string
	for document := range strings.SplitSeq("\n"+string(text), "\n---") {
		var value any
		if err := yaml.Unmarshal([]byte(document), &value); err != nil {
			t.Fatalf("%v in\n%.1000s", err, document)
		}
		if value != nil {
			all = append(all, printed(value))
		}
	}
	return all
}

// printed is an object as text, without empty properties: they may be left out.
func printed(object any) string {
	if fields, ok := object.(map[string]any); ok && fmt.Sprint(fields["properties"]) == "[]" {
		delete(fields, "properties")
	}
	return fmt.Sprint(object)
}

func compareDocuments(t *testing.T, format string, want, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s: %d objects were read, %d are written", format, len(want), len(got))
	}
	for i := range want {
		if want[i] != got[i] {
			t.Fatalf("%s: an object was read as\n%.1000s\nand is written as\n%.1000s", format, want[i], got[i])
		}
	}
}

// BenchmarkWrite loads the catalog with all community operators and writes it.
func BenchmarkWrite(b *testing.B) {
	dir := realCatalog(b, "community-full")
	for format, beat := range map[Format]string{JSON: "7.5 s", YAML: "13.9 s"} {
		b.Run(string(format), func(b *testing.B) {
			peak := watchHeap()
			cpu := cpuTime()
			for b.Loop() {
				c := must.Value(Load(context.Background(), os.DirFS(dir), LoadOptions{}))(b)
				must.NoError(b, Write(io.Discard, c, format))
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s")
			b.ReportMetric((cpuTime()-cpu).Seconds()/float64(b.N), "cpu-s")
			b.ReportMetric(float64(peak())/(1<<20), "peak-MiB")
			b.Logf("to beat: %s to load and write", beat)
		})
	}
}
