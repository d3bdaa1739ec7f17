package operatorgroup

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "fairlead.dev/fairlead/api/operators/v1"
)

// targets are the target namespaces of a group, sorted: those it names, whether they exist or not; else those that its
// selector matches, which may be none; else one empty name, which stands for all namespaces.
func targets(spec *v1.OperatorGroupSpec, namespaces []metav1.PartialObjectMetadata) ([]string, error) {
	if len(spec.TargetNamespaces) > 0 {
		if slices.Contains(spec.TargetNamespaces, metav1.NamespaceAll) {
			return nil, errors.New("spec.targetNamespaces has an empty name: name every namespace, or leave out both spec.targetNamespaces and spec.selector to target all namespaces")
		}
		return sortedSet(spec.TargetNamespaces), nil
	}
	if emptySelector(spec.Selector) {
		return []string{metav1.NamespaceAll}, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("spec.selector cannot be read: %w", err)
	}
	names := []string{}
	for i := range namespaces {
		if selector.Matches(labels.Set(namespaces[i].Labels)) {
			names = append(names, namespaces[i].Name)
		}
	}
	return sortedSet(names), nil
}

func sortedSet(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}

// global says whether the targets are all namespaces.
func global(targets []string) bool { return slices.Equal(targets, []string{metav1.NamespaceAll}) }
