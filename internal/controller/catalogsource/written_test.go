package catalogsource

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// TestAPollIsNotedOnce looks at a catalog again while the cache still has it as it was before the poll was noted.
func TestAPollIsNotedOnce(t *testing.T) {
	w := newWorld(t, source(grpc(15*time.Minute)))
	w.reconcile()
	w.reconcile()
	w.Clock.Step(20 * time.Minute)
	w.Stale = w.source()
	w.Taken()
	for range 3 {
		w.reconcile()
	}
	must.Equal(t, "one poll was noted", w.Count(reported), 1)
	w.Stale = nil
	for range 2 {
		w.reconcile()
	}
	must.Equal(t, "it was noted", w.Count(reported), 1)
	// What another client writes over it is mended.
	s := w.source()
	s.Status.LatestImageRegistryPoll = nil
	must.NoError(t, w.client.Status().Update(t.Context(), s))
	w.reconcile()
	if w.Count(reported) != 2 || w.source().Status.LatestImageRegistryPoll == nil {
		t.Errorf("after another client removed it, it was written %d times: %v", w.Count(reported), w.source().Status.LatestImageRegistryPoll)
	}
}
