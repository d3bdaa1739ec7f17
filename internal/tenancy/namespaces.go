package tenancy

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// Namespaces is a set of namespaces, sorted; one empty name stands for all.
type Namespaces []string

// ReachOf is where a group competes with others: its target namespaces and its own. A group that has selected none, or
// not yet, reaches nothing.
func ReachOf(group *v1.OperatorGroup) Namespaces {
	targets := group.Status.Namespaces
	if len(targets) == 0 {
		return nil
	}
	if IsGlobal(group) {
		return Namespaces{metav1.NamespaceAll}
	}
	reach := append(slices.Clone(targets), group.Namespace)
	slices.Sort(reach)
	return slices.Compact(reach)
}

// IsGlobal reports whether the targets of a group are all namespaces.
func IsGlobal(group *v1.OperatorGroup) bool {
	return slices.Contains(group.Status.Namespaces, metav1.NamespaceAll)
}

// Common are the namespaces that are in both sets.
func (n Namespaces) Common(m Namespaces) Namespaces {
	switch {
	case n.all():
		return m
	case m.all():
		return n
	}
	var common Namespaces
	for _, name := range n {
		if slices.Contains(m, name) {
			common = append(common, name)
		}
	}
	return common
}

func (n Namespaces) all() bool { return len(n) == 1 && n[0] == metav1.NamespaceAll }

// maxListed is how many names a message lists.
const maxListed = 5

// String names the set in messages.
func (n Namespaces) String() string {
	switch {
	case n.all():
		return "all namespaces"
	case len(n) == 1:
		return "namespace " + n[0]
	default:
		return "namespaces " + listed(n)
	}
}

// listed lists some names, and tells that there are more.
func listed(names []string) string {
	if len(names) > maxListed {
		return strings.Join(names[:maxListed], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// Distinct keeps each group once.
func Distinct(groups []*v1.OperatorGroup) []*v1.OperatorGroup {
	known := map[[2]string]bool{}
	return slices.DeleteFunc(groups, func(g *v1.OperatorGroup) bool {
		key := [2]string{g.Namespace, g.Name}
		again := known[key]
		known[key] = true
		return again
	})
}

// MemberAnnotations are those of the ClusterServiceVersions that are members of a group, through which their pods learn about it.
func MemberAnnotations(group *v1.OperatorGroup) map[string]string {
	return map[string]string{
		v1alpha1.OperatorGroupAnnotation:     group.Name,
		v1alpha1.OperatorNamespaceAnnotation: group.Namespace,
		v1alpha1.TargetNamespacesAnnotation:  strings.Join(slices.Sorted(slices.Values(group.Status.Namespaces)), ","),
	}
}
