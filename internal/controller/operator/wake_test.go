package operator

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// TestWhoIsWoken by an object that is, was, or ought to be a component.
func TestWhoIsWoken(t *testing.T) {
	many := deployment("many")
	for i := range 100 {
		with(many, "operators.coreos.com/x"+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	bare := with(subscription("", ""), key)
	bare.Spec = nil
	tests := map[string]struct {
		kind string
		o    client.Object
		want int
	}{
		"its Subscription":                    {"Subscription", subscription("", ""), 1},
		"a labelled one without a spec":       {"Subscription", bare, 1},
		"the operator of a Subscription":      {"ClusterServiceVersion", newCSV("etcd.v1"), 1},
		"another operator":                    {"ClusterServiceVersion", newCSV("unsubscribed"), 0},
		"the plan of a Subscription":          {"InstallPlan", plan("plan-2"), 1},
		"another plan":                        {"InstallPlan", plan("plan-9"), 0},
		"an earlier plan with the label":      {"InstallPlan", with(plan("plan-1"), key), 1},
		"what the operator owns":              {"Deployment", ownedBy("etcd.v1", deployment("new")), 1},
		"what it owns elsewhere":              {"ClusterRole", ownerLabels("etcd.v1", &rbacv1.ClusterRole{}), 1},
		"what another operator owns":          {"Deployment", ownedBy("unsubscribed", deployment("new")), 0},
		"what an operator owns that is gone":  {"Deployment", ownedBy("gone", deployment("new")), 0},
		"a definition of the operator":        {"CustomResourceDefinition", crd("etcds.example.com"), 1},
		"a definition of nobody":              {"CustomResourceDefinition", crd("unowned.example.com"), 0},
		"what has the label":                  {"ConfigMap", with(&corev1.ConfigMap{}, key), 1},
		"what has none":                       {"ConfigMap", &corev1.ConfigMap{}, 0},
		"what has more labels than may count": {"Deployment", many, maxLabels},
		"what has a label without a name":     {"ConfigMap", with(&corev1.ConfigMap{}, "operators.coreos.com/"), 0},
	}
	k := newCluster(t, append(installed(), newCSV("unsubscribed"))...)
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			got := k.c.concerned(t.Context(), ofKind(t, test.kind), test.o)
			if len(got) != test.want || test.want == 1 && got[0].Name != name {
				t.Errorf("wakes %v, want %d", got, test.want)
			}
		})
	}
}

// TestAChangeWakesBothSides: the Operator that has lost a component, and the one that has got it. A burst is one request.
func TestAChangeWakesBothSides(t *testing.T) {
	k := newCluster(t)
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()
		h := k.c.wake(ofKind(t, "Deployment"))
		before, after := with(deployment("a"), "operators.coreos.com/lost"), with(deployment("a"), "operators.coreos.com/got")
		for range 5 {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q)
		}
		got := map[string]int{}
		for range 2 {
			r, _ := q.Get()
			got[r.Name]++
			q.Done(r)
		}
		if diff := cmp.Diff(map[string]int{"lost": 1, "got": 1}, got); diff != "" || q.Len() > 0 {
			t.Errorf("woken (%d more):\n%s", q.Len(), diff)
		}
	})
}

// TestAnOperatorThatIsThereKnowsItsWholeName, when no Subscription does.
func TestAnOperatorThatIsThereKnowsItsWholeName(t *testing.T) {
	whole := "a-package-with-a-name-that-is-much-too-long-for-a-label.in-a-namespace"
	k := newCluster(t, &v1.Operator{ObjectMeta: metav1.ObjectMeta{Name: whole}})
	got := k.c.concerned(t.Context(), ofKind(t, "Deployment"), with(deployment("a"), v1alpha1.ComponentLabel(whole)))
	if len(got) != 1 || got[0].Name != whole {
		t.Errorf("wakes %v", got)
	}
}
