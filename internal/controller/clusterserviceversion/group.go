package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/tenancy"
)

// listGroups reads the OperatorGroups of the namespace, by name.
func (f *facts) listGroups(ctx context.Context) ([]v1.OperatorGroup, error) {
	if f.groupsRead {
		return f.groups, nil
	}
	var list v1.OperatorGroupList
	if err := f.c.client.List(ctx, &list, client.InNamespace(f.csv.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the OperatorGroups of namespace %s: %w", f.csv.Namespace, err)
	}
	groups := slices.Clone(list.Items)
	slices.SortFunc(groups, func(a, b v1.OperatorGroup) int { return strings.Compare(a.Name, b.Name) })
	f.groups, f.groupsRead = groups, true
	return groups, nil
}

// group is the only OperatorGroup of the namespace; nil when there is not exactly one.
func (f *facts) group(ctx context.Context) (*v1.OperatorGroup, error) {
	groups, err := f.listGroups(ctx)
	if err != nil || len(groups) != 1 {
		return nil, err
	}
	return &groups[0], nil
}

// targets are the target namespaces of the group; none when there is no group.
func (f *facts) targets(ctx context.Context) ([]string, error) {
	group, err := f.group(ctx)
	if err != nil || group == nil {
		return nil, err
	}
	return group.Status.Namespaces, nil
}

func (f *facts) noGroup(ctx context.Context) (finding, error) {
	groups, err := f.listGroups(ctx)
	if err != nil || len(groups) > 0 {
		return seenNot, err
	}
	return seen(tenancy.Advice(f.csv, f.csv.Namespace, "operators")), nil
}

func (f *facts) severalGroups(ctx context.Context) (finding, error) {
	groups, err := f.listGroups(ctx)
	if err != nil || len(groups) < 2 {
		return seenNot, err
	}
	names := make([]string, len(groups))
	for i := range groups {
		names[i] = groups[i].Name
	}
	return seen(strings.Join(names, ", ") + "; delete all but one"), nil
}

func (f *facts) groupUnsynced(ctx context.Context) (finding, error) {
	group, err := f.group(ctx)
	if err != nil || group == nil || !unsynced(group) {
		return seenNot, err
	}
	detail := fmt.Sprintf("OperatorGroup %s to select its target namespaces", group.Name)
	for _, c := range group.Status.Conditions {
		if c.Status == metav1.ConditionTrue {
			detail += ": " + c.Message
		}
	}
	return seen(detail), nil
}

// unsynced says whether the group has not selected its target namespaces yet, or cannot.
func unsynced(group *v1.OperatorGroup) bool {
	return group.Status.LastUpdated == nil || len(group.Status.Namespaces) == 0 && invalid(group)
}

// invalid says whether the group has a condition that tells why its target namespaces are not known.
func invalid(group *v1.OperatorGroup) bool {
	return meta.IsStatusConditionTrue(group.Status.Conditions, "OperatorGroupInvalid")
}

func (f *facts) noTargets(ctx context.Context) (finding, error) {
	group, err := f.group(ctx)
	if err != nil || group == nil || len(group.Status.Namespaces) > 0 {
		return seenNot, err
	}
	return seen(fmt.Sprintf("OperatorGroup %s selects no namespace: label a namespace to match its spec.selector, or name one in its spec.targetNamespaces", group.Name)), nil
}
