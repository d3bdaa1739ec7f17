package crd

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"fairlead.dev/fairlead/test/must"
)

// TestBlockedWaysBackAreRemembered counts what is read of the objects of a CRD whose earlier schema they do not meet. They are all read
// at growing intervals, the named ones in between, and at once when another definition is live or desired.
func TestBlockedWaysBackAreRemembered(t *testing.T) {
	custom := func(i int, x string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget",
			"metadata": map[string]any{"name": fmt.Sprintf("k%02d", i), "namespace": "default"}, "spec": map[string]any{"x": x}}}
	}
	cluster := fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(custom(0, "short")).Build()
	for i := 1; i < 20; i++ {
		must.NoError(t, cluster.Create(t.Context(), custom(i, "much too long")))
	}
	lists, gets := 0, 0
	reader := interceptor.NewClient(cluster, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			lists++
			return c.List(ctx, list, options...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			gets++
			return c.Get(ctx, key, o, options...)
		},
	})
	live, desired := withX(t, "{type: string}"), withX(t, "{type: string, maxLength: 5}")
	live.UID = "a"
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	backs := &Backs{Clock: clock}
	look := func() (Verdict, error) { // what a pass does for one CRD: it asks the memory, and then the objects
		way := Change{Live: live, Desired: desired, Policy: &Policy{}, Back: true}
		back, err := Judge(t.Context(), way, Stored{Reader: reader, Backs: backs, Recall: true})
		if err != nil || !back.Unread {
			return back, err
		}
		return Judge(t.Context(), way, Stored{Reader: reader, Backs: backs})
	}
	ask := func(what string, blocked bool, wantLists, wantGets int) {
		t.Helper()
		lists, gets = 0, 0
		back := must.Value(look())(t)
		if (len(back.Reasons) > 0) != blocked || blocked && (back.Read != 20 || !strings.Contains(back.Reasons[0], "19 of 20 custom resources would be invalid")) {
			t.Errorf("%s: blocked by %q", what, back.Reasons)
		}
		must.Equal(t, what, lists, wantLists)
		must.Equal(t, what, gets, wantGets)
	}
	ask("at first", true, 1, 0)
	ask("at once", true, 0, 0)
	reads, asked := 0, 0
	for end := clock.Now().Add(4 * time.Hour); clock.Now().Before(end); asked++ {
		clock.SetTime(clock.Now().Add(time.Minute))
		lists = 0
		if back, err := look(); err != nil || len(back.Reasons) != 1 {
			t.Fatalf("blocked by %v, %v", back, err)
		}
		reads += lists
	}
	if asked != 240 || reads < 15 || reads > 20 {
		t.Errorf("in %d passes all custom resources are read %d times, want each %s after the first ones", asked, reads, longInterval)
	}
	clock.SetTime(clock.Now().Add(longInterval))
	ask("after the interval", true, 1, 0)
	clock.SetTime(clock.Now().Add(longInterval / 2))
	ask("within it", true, 0, 1)
	live.Generation++
	ask("when the live definition has changed", true, 1, 0)
	desired = withX(t, "{type: string, maxLength: 6}")
	ask("when another one is desired", true, 1, 0)
	for i := 1; i < 20; i++ {
		must.NoError(t, cluster.Delete(t.Context(), custom(i, "")))
	}
	clock.SetTime(clock.Now().Add(firstInterval / 2))
	ask("when the named ones are gone", false, 1, sampledObjects)
	ask("a way that is not blocked is judged each time", false, 1, 0)
	if len(backs.known) != 2 { // those about other definitions
		t.Errorf("%d are remembered", len(backs.known))
	}
	clock.SetTime(clock.Now().Add(3 * longInterval))
	if ask("much later", false, 1, 0); len(backs.known) != 0 {
		t.Errorf("%d are remembered for ever", len(backs.known))
	}
}

// sampledObjects is how many objects a verdict names.
const sampledObjects = 5

// TestUnreadWaysBackAreReadAgain: custom resources that cannot be converted are read at growing intervals, each a quarter of that of a verdict.
func TestUnreadWaysBackAreReadAgain(t *testing.T) {
	live, desired := withX(t, "{type: string}"), withX(t, "{type: string, maxLength: 5}")
	scan := must.Value((*Backs)(nil).scan(t.Context(), fake.NewClientBuilder().WithScheme(runtime.NewScheme()).Build(), false, Change{Live: live, Desired: desired}))(t)
	b := blockedBack{scan: scan, interval: 4 * time.Minute}
	for age, want := range map[time.Duration]bool{time.Minute - 1: true, time.Minute: false, 4 * time.Minute: false} {
		if holds, err := b.holds(t.Context(), age); holds != want || err != nil {
			t.Errorf("nothing is in the way, after %s: %t, %v", age, holds, err)
		}
	}
	if scan.Unread = "conversion webhook failed"; len(scan.harm("kites")) == 0 {
		t.Error("what cannot be read is not in the way")
	}
	for age, want := range map[time.Duration]bool{time.Minute - 1: true, time.Minute: false} {
		if holds, err := b.holds(t.Context(), age); holds != want || err != nil {
			t.Errorf("what could not be read, after %s: %t, %v", age, holds, err)
		}
	}
}
