package tenancy

import (
	"slices"
	"strings"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// MemberAnnotations are those of the ClusterServiceVersions that are members of a group, through which their pods learn about it.
func MemberAnnotations(group *v1.OperatorGroup) map[string]string {
	return map[string]string{
		v1alpha1.OperatorGroupAnnotation:     group.Name,
		v1alpha1.OperatorNamespaceAnnotation: group.Namespace,
		v1alpha1.TargetNamespacesAnnotation:  strings.Join(slices.Sorted(slices.Values(group.Status.Namespaces)), ","),
	}
}
