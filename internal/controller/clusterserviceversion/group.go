package clusterserviceversion

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
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
	return seen(fix(f.csv, "operators")), nil
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
	if err != nil || group == nil || group.Status.LastUpdated != nil && (len(group.Status.Namespaces) > 0 || !invalid(group)) {
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

// metadataDiffers looks for the finalizer and for the annotations through which the pods learn about the group.
func (f *facts) metadataDiffers(ctx context.Context) (finding, error) {
	group, err := f.group(ctx)
	if err != nil || group == nil {
		return seenNot, err
	}
	if !controllerutil.ContainsFinalizer(f.csv, v1alpha1.CSVCleanupFinalizer) {
		return seen("finalizer " + v1alpha1.CSVCleanupFinalizer), nil
	}
	for name, value := range groupAnnotations(group) {
		if have, ok := f.csv.Annotations[name]; !ok || have != value {
			return seen("annotation " + name), nil
		}
	}
	return seenNot, nil
}

func groupAnnotations(group *v1.OperatorGroup) map[string]string {
	return map[string]string{
		v1alpha1.OperatorGroupAnnotation:     group.Name,
		v1alpha1.OperatorNamespaceAnnotation: group.Namespace,
		v1alpha1.TargetNamespacesAnnotation:  strings.Join(slices.Sorted(slices.Values(group.Status.Namespaces)), ","),
	}
}

// adopt makes the CSV a member of its group: with the finalizer, before anything is made for it, and the annotations.
func (f *facts) adopt(ctx context.Context) error {
	group, err := f.group(ctx)
	if err != nil || group == nil {
		return err
	}
	updated := f.csv.DeepCopy()
	controllerutil.AddFinalizer(updated, v1alpha1.CSVCleanupFinalizer)
	if updated.Annotations == nil {
		updated.Annotations = map[string]string{}
	}
	maps.Copy(updated.Annotations, groupAnnotations(group))
	patch := client.MergeFromWithOptions(f.csv, client.MergeFromWithOptimisticLock{})
	if err := f.c.client.Patch(ctx, updated, patch, fieldManager); err != nil {
		return fmt.Errorf("annotate ClusterServiceVersion %s with its OperatorGroup %s: %w", f.name(), group.Name, err)
	}
	f.c.remember(updated)
	f.csv, f.wanted = updated, nil
	return nil
}
