package catalogsource

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// TestAWrongImageThatIsNotPolledIsLookedAtAgain: its pod never answers, and whoever pushed it pushes a right one under the same tag.
func TestAWrongImageThatIsNotPolledIsLookedAtAgain(t *testing.T) {
	w := newWorld(t, source(grpc(0)), namespaceOf())
	w.registry.noCatalog = true
	w.reconcile()
	w.Clock.Step(time.Second)
	result, _ := w.reconcile()
	if len(w.pods()) != 1 {
		t.Fatalf("%d pods", len(w.pods()))
	}
	w.registry.noCatalog = false
	waited := time.Duration(0)
	for readyReason(w.source()) != "True Serving" {
		if result.RequeueAfter <= 0 || waited > 2*v1alpha1.DefaultRegistryPollDuration {
			t.Fatalf("after %s it is looked at again in %s: %+v", waited, result.RequeueAfter, w.source().Status)
		}
		waited += result.RequeueAfter
		w.Clock.Step(result.RequeueAfter)
		result, _ = w.reconcile()
	}
	if loads := w.registry.loads.Load(); loads > 4 {
		t.Errorf("the image was read %d times in %s", loads, waited)
	}
}
