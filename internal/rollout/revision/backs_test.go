package revision

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lists counts how often each kind is listed.
type lists struct {
	client.Reader
	count map[string]int
}

func (l lists) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	l.count[list.GetObjectKind().GroupVersionKind().Kind]++
	return l.Reader.List(ctx, list, options...)
}

// TestOneBlockedWayBackSavesReadingTheOthers: as long as one definition bars the step, the objects of those that do not are not read.
func TestOneBlockedWayBackSavesReadingTheOthers(t *testing.T) {
	hawks := func(text string) string { return strings.NewReplacer("kite", "hawk", "Kite", "Hawk").Replace(text) }
	const form = "{apiVersion: example.com/v1, kind: Kite, metadata: {name: k, namespace: default}, spec: {x: %s}}"
	harmful, harmless := object(t, fmt.Sprintf(form, "much too long")), object(t, hawks(fmt.Sprintf(form, "short")))
	cluster := world(harmful, harmless,
		typed[apiextensionsv1.CustomResourceDefinition](t, kites(text, ", uid: a")), typed[apiextensionsv1.CustomResourceDefinition](t, hawks(kites(text, ", uid: b"))))
	lists := lists{cluster, map[string]int{}}
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	judge := Preflight{Client: cluster, Live: lists, Backs: &crd.Backs{Clock: clock}}
	step := Change{Extension: kite(), Repeated: true, Objects: []*unstructured.Unstructured{object(t, hawks(kites(short, ""))), object(t, kites(short, ""))}}
	ask := func(what string, blocked bool, want map[string]int) {
		t.Helper()
		clear(lists.count)
		all, err := judge.Definitions(t.Context(), step)
		if err != nil || len(all) != 2 {
			t.Fatalf("%s: found %+v, %v", what, all, err)
		}
		if unsafe := Unsafe(all); (unsafe != nil) != blocked || blocked && !strings.Contains(unsafe.Error(), "1 of 1 custom resources would be invalid") {
			t.Errorf("%s: %v", what, unsafe)
		}
		must.Equal(t, what, lists.count, want)
	}
	ask("at first", true, map[string]int{"KiteList": 1, "HawkList": 1})
	ask("at once", true, map[string]int{})
	clock.SetTime(clock.Now().Add(time.Minute / 2))
	ask("within the interval", true, map[string]int{})
	clock.SetTime(clock.Now().Add(time.Minute))
	ask("after the interval", true, map[string]int{"KiteList": 1, "HawkList": 1})
	must.NoError(t, cluster.Delete(t.Context(), harmful))
	clock.SetTime(clock.Now().Add(time.Minute))
	ask("when nothing is in the way", false, map[string]int{"KiteList": 1, "HawkList": 1})
	ask("a way that is not blocked is judged each time", false, map[string]int{"KiteList": 1, "HawkList": 1})
	judge.Backs = nil
	ask("without a memory", false, map[string]int{"KiteList": 1, "HawkList": 1})
}
