package clusterextension

import (
	"testing"

	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/rollout/desired"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// conditionFor is what is rendered for an operator of one Deployment.
func conditionFor(deployment string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"serviceAccounts": []any{"sa"}, "deployments": []any{deployment}}}}
	u.SetGroupVersionKind(v2.GroupVersion.WithKind(v2.OperatorConditionKind))
	u.SetNamespace("ns")
	u.SetName("my")
	return u
}

func (w *world) operatorCondition() *v2.OperatorCondition {
	w.t.Helper()
	o := &v2.OperatorCondition{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "ns", Name: "my"}, o))
	return o
}

// operatorSays lets the operator report whether it can be upgraded, in the status, or an administrator in its place.
func (w *world) operatorSays(status metav1.ConditionStatus, override bool) {
	w.t.Helper()
	o := w.operatorCondition()
	said := []metav1.Condition{{Type: v2.ConditionUpgradeable, Status: status, Reason: "Busy", Message: "a backup is under way", LastTransitionTime: metav1.Now()}}
	if override {
		o.Spec.Overrides = said
		w.must(w.client.Update(w.t.Context(), o))
		return
	}
	o.Status.Conditions = said
	o.Status.Conditions[0].ObservedGeneration = o.Generation
	w.must(w.client.Status().Update(w.t.Context(), o))
}

// TestOperatorSaysNotNow: an operator that says that it cannot be upgraded stays as it is until it says otherwise, or an administrator does.
func TestOperatorSaysNotNow(t *testing.T) {
	for _, override := range []bool{false, true} {
		w := newWorld(t, want("my", "a", ""))
		w.extra["a.v1.0.0"] = []*unstructured.Unstructured{conditionFor("one")}
		w.extra["a.v1.1.0"] = []*unstructured.Unstructured{conditionFor("two")}
		w.serve("cat", pkg("a", "1.0.0"))
		w.settle("my")
		spec := w.operatorCondition().Spec
		if diff := cmp.Diff(v2.OperatorConditionSpec{ServiceAccounts: []string{"sa"}, Deployments: []string{"one"}}, spec); diff != "" {
			t.Fatalf("OperatorCondition (-want +got):\n%s", diff)
		}
		for _, u := range w.objects() {
			if desired.IsCondition(u) {
				t.Error("the revision has the OperatorCondition, which has to outlive it")
			}
		}
		w.operatorSays(metav1.ConditionFalse, false)
		w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
		w.settle("my")
		if got := w.installed("my"); got != "a.v1.0.0" {
			t.Errorf("%s is installed, though the operator said that it cannot be upgraded", got)
		}
		w.expect("my", "Progressing", `True/Retrying: operator is not upgradeable: the operatorcondition ns/my says "Upgradeable"="False": a backup is under way; `+
			"the upgrade to a.v1.1.0 continues when the operator says so, or when spec.overrides of the OperatorCondition says Upgradeable=True")
		w.operatorSays(metav1.ConditionTrue, override)
		w.settle("my")
		if got := w.installed("my"); got != "a.v1.1.0" {
			t.Errorf("override %t: %s is installed, though the operator can be upgraded", override, got)
		}
		if got := w.operatorCondition().Spec.Deployments; !cmp.Equal(got, []string{"two"}) {
			t.Errorf("the OperatorCondition is for %q after the upgrade", got)
		}
	}
}

// TestGoingBackIsNotHeldUp: what an operator says of upgrades does not keep anybody from going back.
func TestGoingBackIsNotHeldUp(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.extra["a.v1.0.0"], w.extra["a.v1.1.0"] = []*unstructured.Unstructured{conditionFor("one")}, []*unstructured.Unstructured{conditionFor("one")}
	w.serve("cat", pkg("a", "1.0.0"))
	w.settle("my")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.settle("my")
	w.operatorSays(metav1.ConditionFalse, false)
	w.annotate("my", desired.RollbackToKey, "1")
	w.settle("my")
	if got := w.installed("my"); got != "a.v1.0.0" {
		t.Errorf("%s is installed", got)
	}
}

// TestOperatorConditionComesBack when a person deletes it, and one of another client is left alone, and decides nothing.
func TestOperatorConditionComesBack(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.extra["a.v1.0.0"] = []*unstructured.Unstructured{conditionFor("one")}
	w.serve("cat", pkg("a", "1.0.0"))
	w.settle("my")
	w.must(w.client.Delete(t.Context(), w.operatorCondition()))
	w.settle("my")
	mine := w.operatorCondition()
	if len(keptFor(t.Context(), mine)) != 1 || keptFor(t.Context(), mine)[0] != requestFor("my") {
		t.Errorf("the OperatorCondition leads to %v", keptFor(t.Context(), mine))
	}
	w.must(w.client.Delete(t.Context(), mine))
	foreign := &v2.OperatorCondition{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "my"}, Spec: v2.OperatorConditionSpec{Deployments: []string{"theirs"}}}
	w.must(w.client.Create(t.Context(), foreign))
	w.operatorSays(metav1.ConditionFalse, false)
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.settle("my")
	if got := w.operatorCondition().Spec.Deployments; !cmp.Equal(got, []string{"theirs"}) || w.installed("my") != "a.v1.1.0" {
		t.Errorf("OperatorCondition of somebody else: %q; installed %s", got, w.installed("my"))
	}
}

// TestNoOperatorCondition is made for an operator without one.
func TestNoOperatorCondition(t *testing.T) {
	w := installedWorld(t)
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "my"}, &v2.OperatorCondition{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want none", err)
	}
}
