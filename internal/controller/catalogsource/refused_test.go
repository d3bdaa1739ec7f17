package catalogsource

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestARefusedPodIsDeletedAgain without a pause of a whole interval, where an attempt to delete it fails.
func TestARefusedPodIsDeletedAgain(t *testing.T) {
	for name, fails := range map[string]error{
		"the API server is away": &url.Error{Op: "Delete", URL: "https://10.0.0.1/api", Err: errors.New("connection refused")},
		"it is not allowed":      errors.New("pods are forbidden"),
	} {
		t.Run(name, func(t *testing.T) {
			w, v, _ := inPod(t, time.Hour)
			v.set(func(v *verifier) { v.refused = []string{digestOne} })
			w.refuse(false, fails)
			for range 2 {
				_, err := w.c.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
				if !errors.Is(err, fails) {
					t.Fatalf("the queue is given %v", err)
				}
			}
			s := w.source()
			if says := strings.Contains(s.Status.Message, fails.Error()); says == reconcile.IsTransient(fails) || !strings.Contains(s.Status.Message, "is refused") || w.packages() != nil {
				t.Errorf("packages %v, %+v", w.packages(), s.Status)
			}
			w.Before = nil
			w.reconcile()
			must.Empty(t, "pods", w.pods())
		})
	}
}

// listing counts the lists of pods.
type listing struct {
	client.Reader
	pods atomic.Int32
}

func (l *listing) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	if _, ok := list.(*corev1.PodList); ok {
		l.pods.Add(1)
	}
	return l.Reader.List(ctx, list, o...)
}

// TestARefusalIsNoReasonToHurry: while an image is refused its catalog is reconciled no more often than is asked for.
func TestARefusalIsNoReasonToHurry(t *testing.T) {
	rest := func(t *testing.T, w *world, want string) {
		t.Helper()
		lists := &listing{Reader: w.c.pods.keeper.Reader}
		w.c.pods.keeper.Reader = lists
		var result ctrl.Result
		for range 4 {
			w.Clock.Step(time.Second)
			result, _ = w.reconcile()
		}
		must.Equal(t, "signature", signature(w.source()), want)
		if before := lists.pods.Load(); result.RequeueAfter != 0 && result.RequeueAfter < 30*time.Minute || before > 4 {
			t.Errorf("it is looked at after %s, pods were listed %d times", result.RequeueAfter, before)
		}
	}
	t.Run("a newer image was found just before", func(t *testing.T) {
		w, v, _ := inPod(t, time.Hour)
		w.registry.content = strings.Repeat("2", 64)
		w.Clock.Step(2 * time.Hour)
		if w.reconcile(); w.c.memory.known[ref].polled != digestTwo {
			t.Fatalf("polled %q", w.c.memory.known[ref].polled)
		}
		v.set(func(v *verifier) { v.refused = []string{digestOne, digestTwo} })
		rest(t, w, "False Unverified")
		v.set(func(v *verifier) { v.refused = nil })
		if w.settle(digestTwo); !slices.Equal(w.running(), []string{repo + "@" + digestTwo}) {
			t.Errorf("accepted again, pods run %v", w.running())
		}
	})
	t.Run("a poll ends that has begun under another policy", func(t *testing.T) {
		w, v, _ := inPod(t, time.Hour)
		w.c.grace = time.Millisecond
		hold := make(chan struct{})
		v.held.Store(&hold)
		w.Clock.Step(2 * time.Hour)
		for w.reconcile(); v.held.Load() != nil; time.Sleep(time.Millisecond) {
			if t.Context().Err() != nil {
				t.Fatal("nothing is polled")
			}
		}
		w.c.grace = 10 * time.Second
		v.set(func(v *verifier) { v.refused = []string{digestOne} })
		go func() { // the pass waits for the poll too
			time.Sleep(20 * time.Millisecond)
			close(hold)
		}()
		if w.reconcile(); len(w.pods()) != 0 {
			t.Fatalf("pods run %v", w.running())
		}
		rest(t, w, "False Unverified")
	})
}

// TestAnExpiredVerificationIsRepeated of the image that runs, while the policy refuses a newer one.
func TestAnExpiredVerificationIsRepeated(t *testing.T) {
	w, v, _ := inPod(t, time.Hour)
	w.registry.content = strings.Repeat("2", 64)
	v.set(func(v *verifier) { v.refused, v.expires = []string{digestTwo}, w.Clock.Now().Add(30*time.Minute) })
	for range 3 {
		w.Clock.Step(time.Second)
		w.reconcile()
	}
	if !slices.Equal(w.running(), []string{repo + "@" + digestOne}) || len(w.packages()) != 1 {
		t.Fatalf("pods run %v, packages %v", w.running(), w.packages())
	}
	w.Clock.Step(31 * time.Minute)
	v.set(func(v *verifier) { v.expires = w.Clock.Now().Add(time.Hour) })
	if _, s := w.reconcile(); !slices.Equal(w.running(), []string{repo + "@" + digestOne}) || len(w.packages()) != 1 {
		t.Errorf("pods run %v, packages %v: %+v", w.running(), w.packages(), s.Status)
	}
}

// TestARefusedCatalogIsNotBeingLoaded in the eyes of those who would use it, be it in a pod or not.
func TestARefusedCatalogIsNotBeingLoaded(t *testing.T) {
	for name, change := range map[string]func(*verifier){
		"refused":   func(v *verifier) { v.refused = []string{digestOne} },
		"undecided": func(v *verifier) { v.refused, v.down = []string{"other"}, errors.New("registry is down") },
	} {
		for where, annotation := range map[string]string{"in a pod": "true", "in the manager": "false"} {
			t.Run(name+" "+where, func(t *testing.T) {
				w, v, _ := inPod(t, 0)
				w.update(func(s *v1alpha1.CatalogSource) { s.Annotations = map[string]string{PodAnnotation: annotation} })
				for range 5 {
					w.reconcile()
					w.Clock.Step(time.Second)
				}
				v.set(change)
				w.reconcile()
				e, _ := w.c.catalogs.Get(ref)
				if e.Index != nil || !e.Withheld || e.Problem == "" { // see observed.Source.Loading
					t.Errorf("published %+v", e)
				}
			})
		}
	}
}

// TestARefusalByAnotherPolicyIsVoid: what a poll could not use under the policy before is looked for again under this one.
func TestARefusalByAnotherPolicyIsVoid(t *testing.T) {
	w, v, _ := inPod(t, time.Hour)
	v.set(func(v *verifier) { v.refused = []string{digestTwo} })
	w.settle(digestOne)
	w.registry.content = strings.Repeat("2", 64)
	known := w.c.memory.known[ref]
	reading, err := w.c.pods.read(t.Context(), w.source(), known)
	if err == nil {
		t.Fatal("it was not refused")
	}
	v.set(func(v *verifier) { v.refused = nil })
	seen := signs{podded: true, pod: known.pod, policy: v.Policy()}
	known.signatures.Policy = seen.policy // decided meanwhile
	if after := known.after(reading, err, w.Clock.Now(), seen); after.problem != nil || after.looked != known.looked || after.signatures.Policy != seen.policy {
		t.Errorf("problem %v, looked at %s, signatures %+v", after.problem, after.looked, after.signatures)
	}
}
