package catalogsource

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// restarted is the world after the manager was started again.
func (w *world) restarted() {
	records := w.c.records
	w.c.links.closeAll()
	w.c = w.controller()
	w.c.records = records
	w.t.Cleanup(w.c.links.closeAll)
}

func TestWhatWasServedLastIsServedAfterAStart(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, source(inConfigMap("content")), configMap("content", good))
	w.c.records = records{dir: dir, indexes: w.indexes}
	w.reconcile()
	must.NoError(t, w.client.Delete(t.Context(), w.edit("content", "")))
	w.restarted()
	_, s := w.reconcile()
	if len(w.packages()) != 1 || readyReason(s) != "True ServingLastGoodContent" || s.Status.ConfigMapResource == nil {
		t.Errorf("packages %v, status %+v", w.packages(), s.Status)
	}
	// Something else was asked for in the meantime: what was served before is not it.
	w.update(func(s *v1alpha1.CatalogSource) { s.Spec = grpc(0) })
	w.registry.err = errors.New("down")
	w.restarted()
	if _, s = w.reconcile(); w.packages() != nil || readyReason(s) != "False RegistryServerError" {
		t.Errorf("packages %v, status %+v", w.packages(), s.Status)
	}
}

func TestRecordsGoWithTheirCatalog(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, source(inConfigMap("content")), configMap("content", good))
	w.c.records = records{dir: dir, indexes: w.indexes}
	_, s := w.reconcile()
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 1 {
		t.Fatalf("records %v, want one", files)
	}
	must.NoError(t, w.client.Delete(t.Context(), s))
	w.reconcile()
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 0 {
		t.Errorf("records %v", files)
	}
}

func TestDamagedRecordsAreOfNoConsequence(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "no JSON": "{", "of another": `{"Namespace":"x","Name":"y"}`} {
		dir := t.TempDir()
		w := newWorld(t, source(inConfigMap("content")), configMap("content", good))
		w.c.records = records{dir: dir, indexes: w.indexes}
		must.NoError(t, os.WriteFile(w.c.records.path(ref), []byte(content), 0o600))
		if _, s := w.reconcile(); readyReason(s) != "True Serving" {
			t.Errorf("%s: status %+v", name, s.Status)
		}
	}
}

func TestASlowRegistryKeepsNothingWaiting(t *testing.T) {
	w := newWorld(t, source(grpc(time.Minute)))
	w.c.grace = 20 * time.Millisecond
	finished := make(chan struct{}, 10)
	w.c.loads.finished = func(got catalog.Ref) {
		if got == ref {
			finished <- struct{}{}
		}
	}
	w.registry.slow = make(chan struct{})
	start := time.Now()
	result, s := w.reconcile()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	if readyReason(s) != "False Loading" || s.Status.GRPCConnectionState.LastObservedState != "CONNECTING" || result.RequeueAfter != 0 {
		t.Errorf("status %+v, again in %s", s.Status, result.RequeueAfter)
	}
	w.reconcile()
	must.Equal(t, "an event in between began load", w.registry.loads.Load(), 1)
	close(w.registry.slow)
	<-finished
	if _, s = w.reconcile(); readyReason(s) != "True Serving" || w.registry.loads.Load() != 1 {
		t.Errorf("once it has arrived: %+v, %d loads", s.Status, w.registry.loads.Load())
	}
}

func TestWhatIsNotWantedAnyMoreIsNotWaitedFor(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"another image": func(w *world) {
			w.update(func(s *v1alpha1.CatalogSource) { s.Spec.Image = "registry.example.com/other" })
		},
		"deleted": func(w *world) { _ = w.client.Delete(w.t.Context(), w.source()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, source(grpc(0)))
			w.c.grace = time.Millisecond
			finished := make(chan struct{}, 10)
			w.c.loads.finished = func(catalog.Ref) { finished <- struct{}{} }
			w.registry.slow = make(chan struct{})
			w.reconcile()
			change(w)
			w.reconcile()
			select {
			case <-finished:
			case <-time.After(10 * time.Second):
				t.Fatal("the load goes on")
			}
		})
	}
}
