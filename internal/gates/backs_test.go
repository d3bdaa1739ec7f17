package gates

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/rollout/crd"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestBlockedWaysBackAreRemembered counts what is read of the custom resources of a definition whose earlier schema they do not meet. They are all read
// at growing intervals, the named ones in between, and at once when another definition is live or desired.
func TestBlockedWaysBackAreRemembered(t *testing.T) {
	custom := func(i int, x string) *unstructured.Unstructured {
		return object(t, fmt.Sprintf("{apiVersion: example.com/v1, kind: Kite, metadata: {name: k%02d, namespace: default}, spec: {x: %s}}", i, x))
	}
	cluster := world(custom(0, "short"))
	for i := 1; i < 20; i++ {
		if err := cluster.Create(t.Context(), custom(i, "much too long")); err != nil {
			t.Fatal(err)
		}
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
	live, desired := typed[apiextensionsv1.CustomResourceDefinition](t, kites(text, ", uid: a")), typed[apiextensionsv1.CustomResourceDefinition](t, kites(short, ""))
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	backs := &Backs{Clock: clock}
	ask := func(what string, blocked bool, wantLists, wantGets int) {
		t.Helper()
		lists, gets = 0, 0
		back, err := goBack(t.Context(), backs.look, reader, live, desired, crd.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		if (len(back.Blocked) > 0) != blocked || blocked && (back.Objects != 20 || !strings.Contains(back.Blocked[0], "19 of 20 custom resources would be invalid")) {
			t.Errorf("%s: blocked by %q", what, back.Blocked)
		}
		if lists != wantLists || gets != wantGets {
			t.Errorf("%s: %d lists and %d single reads, want %d and %d", what, lists, gets, wantLists, wantGets)
		}
	}
	ask("at first", true, 1, 0)
	ask("at once", true, 0, 0)
	reads, asked := 0, 0
	for end := clock.Now().Add(4 * time.Hour); clock.Now().Before(end); asked++ {
		clock.SetTime(clock.Now().Add(time.Minute))
		lists = 0
		if back, err := goBack(t.Context(), backs.look, reader, live, desired, crd.Policy{}); err != nil || len(back.Blocked) != 1 {
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
	desired = typed[apiextensionsv1.CustomResourceDefinition](t, kites("{type: string, maxLength: 6}", ""))
	ask("when another one is desired", true, 1, 0)
	for i := 1; i < 20; i++ {
		if err := cluster.Delete(t.Context(), custom(i, "")); err != nil {
			t.Fatal(err)
		}
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

// look is what a pass does for one definition: it asks the memory, and then the objects.
func (m *Backs) look(ctx context.Context, reader client.Reader, live, desired *apiextensionsv1.CustomResourceDefinition, versions []string) (*crd.Scan, error) {
	if check, err := m.remembered(ctx, reader, live, desired, versions); check != nil || err != nil {
		return check, err
	}
	return m.check(ctx, reader, live, desired, versions)
}

// TestOneBlockedWayBackSavesReadingTheOthers: as long as one definition bars the step, the objects of those that do not are not read.
func TestOneBlockedWayBackSavesReadingTheOthers(t *testing.T) {
	hawks := func(text string) string { return strings.NewReplacer("kite", "hawk", "Kite", "Hawk").Replace(text) }
	const form = "{apiVersion: example.com/v1, kind: Kite, metadata: {name: k, namespace: default}, spec: {x: %s}}"
	harmful, harmless := object(t, fmt.Sprintf(form, "much too long")), object(t, hawks(fmt.Sprintf(form, "short")))
	cluster := world(harmful, harmless,
		typed[apiextensionsv1.CustomResourceDefinition](t, kites(text, ", uid: a")), typed[apiextensionsv1.CustomResourceDefinition](t, hawks(kites(text, ", uid: b"))))
	lists := map[string]int{}
	reader := interceptor.NewClient(cluster, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			lists[list.GetObjectKind().GroupVersionKind().Kind]++
			return c.List(ctx, list, options...)
		},
	})
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	judge := Judge{Client: cluster, Live: reader, Backs: &Backs{Clock: clock}}
	step := Step{Extension: kite(), Repeated: true, Objects: []*unstructured.Unstructured{object(t, hawks(kites(short, ""))), object(t, kites(short, ""))}}
	ask := func(what string, blocked bool, want map[string]int) {
		t.Helper()
		clear(lists)
		all, err := judge.Definitions(t.Context(), step)
		if err != nil || len(all) != 2 {
			t.Fatalf("%s: found %+v, %v", what, all, err)
		}
		if unsafe := Unsafe(all); (unsafe != nil) != blocked || blocked && !strings.Contains(unsafe.Error(), "1 of 1 custom resources would be invalid") {
			t.Errorf("%s: %v", what, unsafe)
		}
		if diff := cmp.Diff(want, lists); diff != "" {
			t.Errorf("%s: lists of custom resources (-want +got):\n%s", what, diff)
		}
	}
	ask("at first", true, map[string]int{"KiteList": 1, "HawkList": 1})
	ask("at once", true, map[string]int{})
	clock.SetTime(clock.Now().Add(firstInterval / 2))
	ask("within the interval", true, map[string]int{})
	clock.SetTime(clock.Now().Add(firstInterval))
	ask("after the interval", true, map[string]int{"KiteList": 1, "HawkList": 1})
	if err := cluster.Delete(t.Context(), harmful); err != nil {
		t.Fatal(err)
	}
	clock.SetTime(clock.Now().Add(firstInterval))
	ask("when nothing is in the way", false, map[string]int{"KiteList": 1, "HawkList": 1})
	ask("a way that is not blocked is judged each time", false, map[string]int{"KiteList": 1, "HawkList": 1})
	judge.Backs = nil
	ask("without a memory", false, map[string]int{"KiteList": 1, "HawkList": 1})
}

// TestUnreadWaysBackAreReadAgain: custom resources that cannot be converted are read at growing intervals, each a quarter of that of a verdict.
func TestUnreadWaysBackAreReadAgain(t *testing.T) {
	live, desired := typed[apiextensionsv1.CustomResourceDefinition](t, kites(text, "")), typed[apiextensionsv1.CustomResourceDefinition](t, kites(short, ""))
	check, err := readAll(t.Context(), world(), live, desired, []string{"v1"})
	if err != nil {
		t.Fatal(err)
	}
	b := blockedBack{check: check, interval: 4 * time.Minute}
	for age, want := range map[time.Duration]bool{time.Minute - 1: true, time.Minute: false, 4 * time.Minute: false} {
		if holds, err := b.holds(t.Context(), age); holds != want || err != nil {
			t.Errorf("nothing is in the way, after %s: %t, %v", age, holds, err)
		}
	}
	if check.Unread = "conversion webhook failed"; !blocks(check) {
		t.Error("what cannot be read is not in the way")
	}
	for age, want := range map[time.Duration]bool{time.Minute - 1: true, time.Minute: false} {
		if holds, err := b.holds(t.Context(), age); holds != want || err != nil {
			t.Errorf("what could not be read, after %s: %t, %v", age, holds, err)
		}
	}
}
