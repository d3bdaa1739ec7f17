package operatorgroup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/tenancy"
)

// observed is what the controller read about a group.
type observed struct {
	// groups are the names of all OperatorGroups of the namespace.
	groups []string
	// targets are the target namespaces; invalid is why they cannot be told.
	targets []string
	invalid error
	// unlabelable is why the ClusterRoles of the group cannot carry its name as a label.
	unlabelable error
	// account is the metadata of the named service account; nil when none is named or it does not exist.
	account *metav1.PartialObjectMetadata
	// roles are the ClusterRoles that belong to the group, or to a group that had its name before.
	roles []rbacv1.ClusterRole
	// members are the ClusterServiceVersions of the namespace, rivals the groups that list an API of theirs.
	members []v1alpha1.ClusterServiceVersion
	rivals  []*v1.OperatorGroup
}

func (c *Controller) observe(ctx context.Context, group *v1.OperatorGroup) (*observed, error) {
	seen := &observed{}
	if n := len(group.Name); n > validation.LabelValueMaxLength {
		seen.unlabelable = fmt.Errorf("the group has no ClusterRoles: its name has %d characters and would have to be the value of a label, which may have %d", n, validation.LabelValueMaxLength)
	}
	var siblings v1.OperatorGroupList
	if err := c.client.List(ctx, &siblings, client.InNamespace(group.Namespace)); err != nil {
		return nil, fmt.Errorf("list the OperatorGroups of namespace %s: %w", group.Namespace, err)
	}
	for i := range siblings.Items {
		seen.groups = append(seen.groups, siblings.Items[i].Name)
	}
	namespaces := &metav1.PartialObjectMetadataList{}
	namespaces.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if selects(&group.Spec) { // without a selector none are needed
		if err := c.client.List(ctx, namespaces); err != nil {
			return nil, fmt.Errorf("list the namespaces that OperatorGroup %s may select: %w", client.ObjectKeyFromObject(group), err)
		}
	}
	seen.targets, seen.invalid = targets(&group.Spec, namespaces.Items)
	if group.Spec.ServiceAccountName != "" {
		account := &metav1.PartialObjectMetadata{}
		account.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
		key := types.NamespacedName{Namespace: group.Namespace, Name: group.Spec.ServiceAccountName}
		if err := c.client.Get(ctx, key, account); err == nil {
			seen.account = account
		} else if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read ServiceAccount %s of OperatorGroup %s: %w", key, client.ObjectKeyFromObject(group), err)
		}
	}
	// Read the operators of the namespace, and the groups that list one of their APIs.
	var list v1alpha1.ClusterServiceVersionList
	if err := c.client.List(ctx, &list, client.InNamespace(group.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the ClusterServiceVersions of OperatorGroup %s: %w", client.ObjectKeyFromObject(group), err)
	}
	seen.members = list.Items
	mine := map[string]bool{}
	for i := range list.Items {
		for api := range tenancy.ProvidedBy(&list.Items[i]) {
			mine[api] = true
		}
	}
	for api := range mine {
		var groups v1.OperatorGroupList
		if err := c.client.List(ctx, &groups, client.MatchingFields{indexGroupByAPI: api}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list the OperatorGroups that provide %s: %w", api, err)
		}
		for i := range groups.Items {
			seen.rivals = append(seen.rivals, &groups.Items[i])
		}
	}
	seen.rivals = tenancy.Distinct(seen.rivals)
	roles, err := c.rolesOf(ctx, client.ObjectKeyFromObject(group))
	seen.roles = roles
	return seen, err
}

// rolesOf reads the ClusterRoles that carry the owner labels of the group.
func (c *Controller) rolesOf(ctx context.Context, group types.NamespacedName) ([]rbacv1.ClusterRole, error) {
	var list rbacv1.ClusterRoleList
	if err := c.client.List(ctx, &list, client.MatchingFields{indexRoleByGroup: group.String()}); err != nil {
		return nil, fmt.Errorf("list the ClusterRoles of OperatorGroup %s: %w", group, err)
	}
	return list.Items, nil
}

// selects reports whether the group selects its namespaces by label.
func selects(spec *v1.OperatorGroupSpec) bool {
	return len(spec.TargetNamespaces) == 0 && !emptySelector(spec.Selector)
}

func emptySelector(s *metav1.LabelSelector) bool {
	return s == nil || len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

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
