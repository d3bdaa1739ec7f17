package catalogsource

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"
)

// TestAnUpgradeKeepsWhatWasServed although what it was made from is gone; once that is back, it is read again by this build.
func TestAnUpgradeKeepsWhatWasServed(t *testing.T) {
	w := newWorld(t, source(inConfigMap("content")), configMap("content", good))
	dir := t.TempDir()
	indexes := must.Value(catalogstore.OpenCache(dir))(t)
	w.indexes, w.c.records = indexes, records{dir: t.TempDir(), indexes: indexes}
	w.restarted()
	w.reconcile()
	m := w.edit("content", "")
	must.NoError(t, w.client.Delete(t.Context(), m))
	// The world after the manager was started again, as another build of the program than the one that made the indexes.
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.index"))
	if err != nil || len(files) == 0 {
		w.t.Fatalf("indexes %v, %v", files, err)
	}
	for _, file := range files {
		content, _, ok := strings.Cut(filepath.Base(file), "-")
		if !ok {
			w.t.Fatalf("%s does not say which build made it", file)
		}
		if err := os.Rename(file, filepath.Join(dir, content+"-"+strings.Repeat("0", 16)+".index")); err != nil {
			w.t.Fatal(err)
		}
	}
	w.restarted()
	if _, s := w.reconcile(); len(w.packages()) != 1 || readyReason(s) != "True ServingLastGoodContent" {
		t.Fatalf("packages %v, status %+v", w.packages(), s.Status)
	}
	before := w.c.memory.known[ref].index
	w.create(configMap("content", good))
	w.Clock.Step(time.Minute)
	_, s := w.reconcile()
	if now := w.c.memory.known[ref]; now.index == before || now.earlier || readyReason(s) != "True Serving" {
		t.Errorf("the index is that of the other build: %t, status %+v", now.index == before, s.Status)
	}
	// The next start has an index of its own.
	w.restarted()
	if w.reconcile(); w.c.memory.known[ref].earlier {
		t.Error("the index of the other build is used though there is one of this build")
	}
}

// TestAnUpgradeJudgesAnImageAnew though its digest is the same, and does not wait for the next poll.
func TestAnUpgradeJudgesAnImageAnew(t *testing.T) {
	w := newWorld(t, source(grpc(time.Hour)))
	w.reconcile()
	known := w.c.memory.known[ref]
	known.earlier, known.looked = true, time.Time{}
	loads := w.registry.loads.Load()
	if got := w.c.resume(w.source(), known); !got.looked.IsZero() {
		t.Error("it waits for the next poll")
	}
	w.c.memory.keep(ref, known)
	if w.reconcile(); w.registry.loads.Load() != loads+1 || w.c.memory.known[ref].earlier {
		t.Errorf("read %d times, of another build: %t", w.registry.loads.Load()-loads, w.c.memory.known[ref].earlier)
	}
}
