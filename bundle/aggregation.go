package bundle

import (
	"maps"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ManagerRolePrefix begins the names of ClusterRoles that are the manager's own.
const ManagerRolePrefix = "fairlead-manager-custom-resources:"

// DropAggregation takes out of a ClusterRole of a bundle the labels and annotations that only the manager gives: by them the roles of OperatorGroups and
// of the manager itself gather rights, and roles of APIs record for whom they were made. Those of Kubernetes, which aggregate to admin, edit and view,
// stay: a bundle may bring roles for users, as far as the rights of its installation go. A role with a name of the manager's own roles gathers no rules from other roles. Other objects are left as they are.
func DropAggregation(object *unstructured.Unstructured) {
	if object.GetKind() != "ClusterRole" {
		return
	}
	if strings.HasPrefix(object.GetName(), ManagerRolePrefix) {
		delete(object.Object, "aggregationRule")
	}
	if labels := object.GetLabels(); len(labels) > 0 {
		maps.DeleteFunc(labels, func(key, _ string) bool {
			return strings.HasPrefix(key, v1alpha1.OperatorGroupAggregationLabelPrefix) || key == v1alpha1.ManagerAggregationLabel
		})
		object.SetLabels(labels)
	}
	if annotations := object.GetAnnotations(); annotations[v1alpha1.ProvidersAnnotation] != "" {
		delete(annotations, v1alpha1.ProvidersAnnotation)
		object.SetAnnotations(annotations)
	}
}
