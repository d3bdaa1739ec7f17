package installplan

import (
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// claim keeps a plan from taking over what belongs to somebody else: to a controller, or to an operator that exists and is neither
// in the plan nor replaced by it. Anything else may be taken over, as it always was.
func (x *execution) claim(live *unstructured.Unstructured) string {
	others := ""
	for _, r := range live.GetOwnerReferences() {
		if !isOperator(r) {
			if r.Controller != nil && *r.Controller {
				return fmt.Sprintf("is controlled by %s %s", r.Kind, r.Name)
			}
			continue
		}
		if x.family[r.Name] {
			return ""
		}
		if text := x.belongsTo(live.GetNamespace(), r.Name); text != "" {
			others = text
		}
	}
	if others != "" {
		return others
	}
	labels := live.GetLabels()
	owner, namespace := labels[v1alpha1.OwnerLabel], labels[v1alpha1.OwnerNamespaceLabel]
	if labels[v1alpha1.OwnerKindLabel] != v1alpha1.ClusterServiceVersionKind || namespace != x.plan.Namespace || x.family[owner] {
		return "" // an operator that is installed in several namespaces shares what its bundle has for the cluster
	}
	return x.belongsTo(namespace, owner)
}

func isOperator(r metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupName && r.Kind == v1alpha1.ClusterServiceVersionKind
}

// belongsTo says that an object belongs to an operator, if that exists.
func (x *execution) belongsTo(namespace, name string) string {
	if _, exists := x.operators.find(namespace, name); !exists {
		return ""
	}
	return fmt.Sprintf("belongs to %s %s/%s", v1alpha1.ClusterServiceVersionKind, namespace, name)
}
