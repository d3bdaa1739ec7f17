package claims

import (
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// otherManagers are the field managers under which another implementation of the API writes whole objects.
var otherManagers = []string{"catalog", "olm"}

// Predecessors are the field managers that set fields of an object as the controller of InstallPlans would have: those of another implementation,
// where the object says that operators are what it is for. Without that, what a new version of an operator no longer has would stay:
// the port of a Service, or the other one of two fields that exclude each other. CRDs have none: who serves their conversion webhook
// sets their conversion, under a name of these.
func Predecessors(live *unstructured.Unstructured) []string {
	labels := live.GetLabels()
	if labels[v1alpha1.ManagedLabel] == v1alpha1.ManagedLabelValue || labels[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind {
		return otherManagers
	}
	for _, r := range live.GetOwnerReferences() {
		if (rollout.Holder{OwnerReference: r}).IsOperator() {
			return otherManagers
		}
	}
	return nil
}
