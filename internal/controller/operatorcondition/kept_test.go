package operatorcondition

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/test/must"
)

// holdInStatus has the operator hold its upgrade by the older version of the API.
func (k *cluster) holdInStatus() {
	k.Helper()
	condition := k.condition()
	hold := upgradeable("False")
	hold.ObservedGeneration = condition.Generation
	meta.SetStatusCondition(&condition.Status.Conditions, hold)
	if err := k.Client.Status().Update(k.Context(), condition, client.FieldOwner("operator")); err != nil {
		k.Fatal(err)
	}
}

// report has an operator report one condition in the spec, besides which it has none.
func (k *cluster) report(kind string) {
	k.Helper()
	k.update(func(c *v2.OperatorCondition) {
		c.Spec.Conditions = []metav1.Condition{{Type: kind, Status: "True", Reason: "Fine", LastTransitionTime: metav1.Now()}}
	})
	k.settle()
}

// TestHoldInTheStatusBesideReportsInTheSpec: what an operator reports in the status stays whatever is written into the spec, and however
// often, because it alone knows when its migration is over.
func TestHoldInTheStatusBesideReportsInTheSpec(t *testing.T) {
	for name, before := range map[string]func(*cluster){
		"nothing was reported before":               func(*cluster) {},
		"something else was taken over before":      func(k *cluster) { k.report("Healthy") },
		"something else was taken over and is gone": func(k *cluster) { k.report("Healthy"); k.update(withdraw); k.settle() },
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newCSV())
			k.settle()
			before(k)
			k.holdInStatus()
			for _, kind := range []string{"Healthy", "Tuned", "Healthy"} {
				k.report(kind)
				if k.condition().CheckUpgradeable() == nil {
					t.Fatalf("%s was reported in the spec, and the hold in the status is gone: %v", kind, k.condition().Status.Conditions)
				}
			}
			k.update(withdraw)
			k.settle()
			if k.condition().CheckUpgradeable() == nil {
				t.Errorf("the spec reports nothing any more, and the hold in the status is gone: %v", k.condition().Status.Conditions)
			}
		})
	}
}

// TestReportsThatMoveToTheSpec: a condition that was in the status and is reported in the spec from then on goes when the spec has it no more.
func TestReportsThatMoveToTheSpec(t *testing.T) {
	k := newCluster(t, newCSV())
	k.settle()
	k.holdInStatus()
	k.report("Healthy")
	k.update(func(c *v2.OperatorCondition) { c.Spec.Conditions = append(c.Spec.Conditions, upgradeable("False")) })
	k.settle()
	if k.condition().CheckUpgradeable() == nil {
		t.Errorf("not held by the spec: %v", k.condition().Status.Conditions)
	}
	k.update(withdraw)
	k.settle()
	must.Empty(t, "conditions", k.condition().Status.Conditions)
}

func withdraw(c *v2.OperatorCondition) { c.Spec.Conditions = nil }
