package tenancy

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
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

// Targets reports whether a namespace is among the targets of a group.
func Targets(group *v1.OperatorGroup, namespace string) bool {
	return IsGlobal(group) || slices.Contains(group.Status.Namespaces, namespace)
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
