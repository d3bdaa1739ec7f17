package clusterserviceversion

import (
	"fmt"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestBothVersionsOfOperatorConditions: an operator of the time of v1 reports in the status, and an administrator overrides it by that version.
// Both versions show the same, and what is said by the older one counts.
func TestBothVersionsOfOperatorConditions(t *testing.T) {
	w := newWorld(t)
	w.install(w.operator("op.v1"))
	w.Succeeds("op.v1")
	w.condition("op.v1")
	older := &operatorsv1.OperatorCondition{}
	if !w.Read("op.v1", older) {
		t.Fatal("v1 does not show it")
	}
	must.Equal(t, "in v1 the OperatorCondition", fmt.Sprint(older.Spec.ServiceAccounts, older.Spec.Deployments), "[account] [manager]")
	must.Eventually(w, "the report by v1", func() error {
		w.Read("op.v1", older)
		older.Status.Conditions = []metav1.Condition{{Type: v2.ConditionUpgradeable, Status: "False", Reason: "Busy", Message: "it is busy", LastTransitionTime: metav1.Now(), ObservedGeneration: older.Generation}}
		return w.Status().Update(t.Context(), older)
	})
	w.install(w.operator("op.v2", fixture.Replacing("op.v1"), withImage("example.com/manager:2")))
	w.Is("op.v2", v1alpha1.CSVPhasePending, v1alpha1.CSVReasonOperatorConditionNotUpgradeable)
	if c := meta.FindStatusCondition(w.condition("op.v1").Status.Conditions, v2.ConditionUpgradeable); c == nil || c.Message != "it is busy" {
		t.Errorf("v2 shows %+v", c)
	}
	must.Eventually(w, "the override by v1", func() error {
		w.Read("op.v1", older)
		older.Spec.Overrides = []metav1.Condition{{Type: v2.ConditionUpgradeable, Status: "True", Reason: "Known", Message: "the data is backed up", LastTransitionTime: metav1.Now()}}
		return w.Update(t.Context(), older)
	})
	w.Succeeds("op.v2")
	w.Goes("op.v1", &v2.OperatorCondition{})
}
