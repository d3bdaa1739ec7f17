package clusterserviceversion

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// subjectsOf are the subjects that a service account is known by: itself, its user name, and its groups.
func subjectsOf(namespace, name string) []rbacv1.Subject {
	return []rbacv1.Subject{
		{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name},
		{Kind: rbacv1.UserKind, Name: "system:serviceaccount:" + namespace + ":" + name},
		{Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + namespace},
		{Kind: rbacv1.GroupKind, Name: "system:serviceaccounts"},
		{Kind: rbacv1.GroupKind, Name: "system:authenticated"},
	}
}

// clusterRules are the rules that a service account holds in the whole cluster.
func (f *facts) clusterRules(ctx context.Context, account string) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	for _, subject := range subjectsOf(f.csv.Namespace, account) {
		var list rbacv1.ClusterRoleBindingList
		if err := f.c.client.List(ctx, &list, client.MatchingFields{indexBySubject: subjectKey(subject)}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list the ClusterRoleBindings of %s %s: %w", subject.Kind, subject.Name, err)
		}
		for i := range list.Items {
			if f.ownedByOthers(&list.Items[i]) {
				continue
			}
			granted, err := f.rulesOf(ctx, "", list.Items[i].RoleRef)
			if err != nil {
				return nil, err
			}
			rules = append(rules, granted...)
		}
	}
	return rules, nil
}

// namespaceRules are the rules that a service account holds in the namespace of the CSV by way of RoleBindings.
func (f *facts) namespaceRules(ctx context.Context, account string) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	for _, subject := range subjectsOf(f.csv.Namespace, account) {
		var list rbacv1.RoleBindingList
		err := f.c.client.List(ctx, &list, client.InNamespace(f.csv.Namespace), client.MatchingFields{indexBySubject: subjectKey(subject)}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("list the RoleBindings of %s %s in namespace %s: %w", subject.Kind, subject.Name, f.csv.Namespace, err)
		}
		for i := range list.Items {
			if f.ownedByOthers(&list.Items[i]) {
				continue
			}
			granted, err := f.rulesOf(ctx, f.csv.Namespace, list.Items[i].RoleRef)
			if err != nil {
				return nil, err
			}
			rules = append(rules, granted...)
		}
	}
	return rules, nil
}

// rulesOf are the rules of the role that a binding refers to: none when the role does not exist or belongs to another
// ClusterServiceVersion.
func (f *facts) rulesOf(ctx context.Context, namespace string, ref rbacv1.RoleRef) ([]rbacv1.PolicyRule, error) {
	if ref.Kind == "Role" {
		role := &rbacv1.Role{}
		err := f.c.client.Get(ctx, key(namespace, ref.Name), role, client.UnsafeDisableDeepCopy)
		if err != nil || f.ownedByOthers(role) {
			return nil, client.IgnoreNotFound(err)
		}
		return role.Rules, nil
	}
	role := &rbacv1.ClusterRole{}
	err := f.c.client.Get(ctx, client.ObjectKey{Name: ref.Name}, role, client.UnsafeDisableDeepCopy)
	if err != nil || f.ownedByOthers(role) {
		return nil, client.IgnoreNotFound(err)
	}
	return role.Rules, nil
}
