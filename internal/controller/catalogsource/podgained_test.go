package catalogsource

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientrecord "k8s.io/client-go/tools/record"

	"fairlead.dev/fairlead/test/must"
)

// TestAnImageThatGainsACatalogNeedsNoPod: a publisher moves on from a server with a database to a file-based catalog, under the same tag.
func TestAnImageThatGainsACatalogNeedsNoPod(t *testing.T) {
	w := newWorld(t, source(grpc(time.Hour)), namespaceOf())
	w.withPods(newServer(t, good))
	served, events := w.serve(), clientrecord.NewFakeRecorder(10)
	w.c.pods.events = events
	w.registry.noCatalog, w.registry.content = true, strings.Repeat("1", 64)
	w.settle(digestOne)
	loads := w.registry.loads.Load()
	for range 3 { // the same image: it is not read again to find out what is known
		w.Clock.Step(2 * time.Hour)
		w.reconcile()
		w.settle(digestOne)
	}
	if again := w.registry.loads.Load() - loads; again > 1 {
		t.Errorf("polls of the same image without a catalog read it %d times", again)
	}
	w.registry.noCatalog, w.registry.content = false, strings.Repeat("2", 64)
	w.Clock.Step(2 * time.Hour)
	for range 4 {
		w.reconcile()
		w.Clock.Step(time.Second)
	}
	_, s := w.reconcile()
	if len(w.pods()) != 0 || readyReason(s) != "True Serving" || len(w.packages()) != 1 {
		t.Errorf("%d pods, packages %v, status %+v", len(w.pods()), w.packages(), s.Status)
	}
	if _, ok := served.Catalog("cat.olm"); !ok {
		t.Error("the manager does not answer for it")
	}
	select {
	case told := <-events.Events:
		must.Contain(t, "told", told, "Normal ServedByManager")
		must.Contain(t, "told", told, digestTwo)
	default:
		t.Error("nobody is told")
	}
}

// TestPollsAtItsInterval: not before it is over, and at most a tenth later, however long it is.
func TestPollsAtItsInterval(t *testing.T) {
	for _, interval := range []time.Duration{10 * time.Minute, 15 * time.Minute, 40 * time.Minute, 10 * time.Hour} {
		t.Run(interval.String(), func(t *testing.T) {
			w := newWorld(t, source(grpc(interval)))
			result, _ := w.reconcile()
			start := w.Clock.Now()
			for heads := int32(1); heads <= 3; heads++ {
				for asked := w.registry.heads.Load(); w.registry.heads.Load() == asked; {
					if result.RequeueAfter <= 0 || w.Clock.Since(start) > 2*interval {
						t.Fatalf("requeued after %s, %s after the last poll", result.RequeueAfter, w.Clock.Since(start))
					}
					w.Clock.Step(result.RequeueAfter)
					result, _ = w.reconcile()
				}
				if took := w.Clock.Since(start); took < interval || took > interval*11/10+time.Minute {
					t.Errorf("poll %d came after %s", heads, took)
				}
				start = w.Clock.Now()
			}
		})
	}
}

// TestACorrectedPullSecretIsTriedByAnotherPod as soon as it is there.
func TestACorrectedPullSecretIsTriedByAnotherPod(t *testing.T) {
	s := source(grpc(0))
	s.Annotations, s.Spec.Secrets = map[string]string{PodAnnotation: "true"}, []string{"login"}
	w := newWorld(t, s, namespaceOf())
	w.withPods(newServer(t, good))
	var changed func()
	w.c.secrets = &secrets{watch: func(_ context.Context, _, _ string, f func()) { changed = f }}
	w.reconcile()
	p := w.pods()[0]
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "pull access denied"}}}}}
	must.NoError(t, w.client.Status().Update(t.Context(), &p))
	if w.reconcile(); len(w.pods()) != 1 || w.pods()[0].Name != p.Name {
		t.Fatalf("pods %v before the secret changed", w.pods())
	}
	changed()
	w.reconcile()
	fresh := w.pods()
	if len(fresh) != 1 || fresh[0].Name == p.Name {
		t.Fatalf("after the secret changed there are %d pods, the first is %s", len(fresh), fresh[0].Name)
	}
	w.Taken()
	if w.reconcile(); w.Count(reported) != len(w.Writes()) {
		t.Errorf("looking again writes %v", w.Writes())
	}
}
