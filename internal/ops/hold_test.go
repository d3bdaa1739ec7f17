package ops

import (
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestHold: what is held has no upgrade window, and has its own again afterwards; both can be repeated.
func TestHold(t *testing.T) {
	const window = "Sat 02:00-04:00 UTC"
	for name, before := range map[string]map[string]string{"a window": {schedule.WindowKey: window, "mine": "stays"}, "none": {"mine": "stays"}} {
		sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite", Annotations: before}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite"}}
		extension := newExtension("kite", "kite", func(e *olmv1.ClusterExtension) { e.Annotations = before })
		for _, o := range []client.Object{sub, extension} {
			c, key := cluster(t, sub.DeepCopy()), client.ObjectKeyFromObject(o)
			if o == extension {
				c = clusterV1(t, extension.DeepCopy())
			}
			expect := func(what string, changed bool, err error, wantChanged bool, want map[string]string) {
				t.Helper()
				must.NoError(t, err)
				must.NoError(t, c.Get(t.Context(), key, o))
				if diff := cmp.Diff(want, o.GetAnnotations()); diff != "" || changed != wantChanged {
					t.Errorf("%s, %T, %s: changed %t: %s", name, o, what, changed, diff)
				}
			}
			holding := map[string]string{"mine": "stays", schedule.WindowKey: "never", HeldBeforeKey: before[schedule.WindowKey], HeldReasonKey: "wait for 2.1"}
			changed, err := Hold(t.Context(), c, o, key, "wait for 2.1", true)
			expect("a dry run", changed, err, true, before)
			changed, err = Hold(t.Context(), c, o, key, "wait for 2.1", false)
			expect("held", changed, err, true, holding)
			changed, err = Hold(t.Context(), c, o, key, "wait for 2.1", false)
			expect("held again", changed, err, false, holding)
			delete(holding, HeldReasonKey)
			changed, err = Hold(t.Context(), c, o, key, "", false)
			expect("held for no reason", changed, err, true, holding)
			changed, err = Release(t.Context(), c, o, key, false)
			expect("released", changed, err, true, before)
			changed, err = Release(t.Context(), c, o, key, false)
			expect("released again", changed, err, false, before)
		}
	}
}

// TestReleaseKeepsAnotherWindow: a window that was set while the object was held counts, and an object that cannot be read is an error.
func TestReleaseKeepsAnotherWindow(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite", Annotations: map[string]string{schedule.WindowKey: "always", HeldBeforeKey: "", HeldReasonKey: "x"}}}
	c, key := cluster(t, sub), client.ObjectKeyFromObject(sub)
	changed, err := Release(t.Context(), c, sub, key, false)
	if err != nil || !changed || cmp.Diff(map[string]string{schedule.WindowKey: "always"}, sub.Annotations) != "" {
		t.Errorf("%t, %v, %v", changed, err, sub.Annotations)
	}
	if _, err := Hold(t.Context(), c, &v1alpha1.Subscription{}, client.ObjectKey{Namespace: "ops", Name: "none"}, "", false); err == nil || !strings.Contains(err.Error(), "ops/none") {
		t.Error(err)
	}
	if _, err := Hold(t.Context(), c, sub, key, strings.Repeat("x", 2000), false); err == nil || !strings.Contains(err.Error(), "the reason has 2000 bytes; it may have 1024") {
		t.Error(err)
	}
}
