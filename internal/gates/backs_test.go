package gates

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/preflight/crdupgrade"

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
		back, err := goBack(t.Context(), backs, reader, live, desired, crdupgrade.Policy{})
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
		if back, err := goBack(t.Context(), backs, reader, live, desired, crdupgrade.Policy{}); err != nil || len(back.Blocked) != 1 {
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

// TestUnreadWaysBackAreRemembered: custom resources that cannot be converted are asked for at growing intervals, too.
func TestUnreadWaysBackAreRemembered(t *testing.T) {
	b := blockedBack{check: nil, interval: 4 * time.Minute}
	if holds, err := b.holds(t.Context(), time.Minute-1); !holds || err != nil {
		t.Errorf("within the first quarter: %t, %v", holds, err)
	}
	if holds, err := b.holds(t.Context(), 4*time.Minute); holds || err != nil {
		t.Errorf("after the interval: %t, %v", holds, err)
	}
	live, desired := typed[apiextensionsv1.CustomResourceDefinition](t, kites(text, "")), typed[apiextensionsv1.CustomResourceDefinition](t, kites(short, ""))
	check, err := readAll(t.Context(), world(), live, desired, []string{"v1"})
	if err != nil {
		t.Fatal(err)
	}
	b.check = check
	if holds, err := b.holds(t.Context(), 2*time.Minute); holds || err != nil {
		t.Errorf("nothing is in the way: %t, %v", holds, err)
	}
	if check.Unread = "conversion webhook failed"; !blocks(check) {
		t.Error("what cannot be read is not in the way")
	}
	if holds, err := b.holds(t.Context(), 2*time.Minute); !holds || err != nil {
		t.Errorf("what could not be read: %t, %v", holds, err)
	}
}
