package catalogsource

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// TestCollect removes what no one needs any more, and neither what is published nor what others serve.
func TestCollect(t *testing.T) {
	w := newStandbyWorld(t)
	host := w.images()
	first := ""
	for _, pkg := range []string{"one", "two"} {
		push(t, host+"/"+pkg+":latest", files(pkg), image.CatalogLabels())
		w.ask(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: host + "/" + pkg + ":latest"})
		w.expect("the catalog "+pkg, pkg)
		if served, _ := w.Contents.Get(standbyRef); first == "" {
			first = served.Index.Digest()
		}
	}
	dir := w.indexes
	old := time.Now().Add(-2 * unusedIndexAge)
	for _, name := range indexFiles(t, dir) {
		must.NoError(t, os.Chtimes(filepath.Join(dir, name), old, old))
	}
	if before := len(indexFiles(t, dir)); before != 2 {
		t.Fatalf("%d indexes, want that of each catalog", before)
	}
	kept := []string{first}
	w.Keep = func() []string { return kept }
	w.collect(t.Context())
	if left := indexFiles(t, dir); len(left) != 2 {
		t.Errorf("%d indexes are left, of which somebody else serves one", len(left))
	}
	kept = nil
	for _, name := range indexFiles(t, dir) {
		must.NoError(t, os.Chtimes(filepath.Join(dir, name), old, old))
	}
	w.collect(t.Context())
	left := indexFiles(t, dir)
	served, _ := w.Contents.Get(standbyRef)
	if _, ok := w.Images.Indexes.Get(t.Context(), served.Index.Digest()); !ok || len(left) != 1 {
		t.Errorf("%d indexes are left; that of what is published is there: %t", len(left), ok)
	}
}

func indexFiles(t *testing.T, dir string) []string {
	t.Helper()
	found := must.Value(filepath.Glob(filepath.Join(dir, "*.index")))(t)
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	return found
}
