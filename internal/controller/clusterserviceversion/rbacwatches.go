package clusterserviceversion

import (
	"context"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
)

// usingBinding are the owner of a binding and the CSVs with one of its subjects.
func (t *triggers) usingBinding(ctx context.Context, o client.Object) []reconcile.Request {
	out := t.owner(ctx, o)
	switch binding := o.(type) {
	case *rbacv1.RoleBinding:
		out = append(out, t.usingSubjects(ctx, binding.Namespace, binding.Subjects)...)
	case *rbacv1.ClusterRoleBinding:
		out = append(out, t.usingSubjects(ctx, "", binding.Subjects)...)
	}
	return out
}

// usingSubjects are the CSVs whose service accounts are among the subjects. The groups of all service accounts, and of
// those of one namespace, stand for all CSVs there that ask for permissions.
func (t *triggers) usingSubjects(ctx context.Context, namespace string, subjects []rbacv1.Subject) []reconcile.Request {
	var out []reconcile.Request
	for _, subject := range subjects {
		switch {
		case subject.Kind == rbacv1.ServiceAccountKind:
			out = append(out, t.ofAccount(ctx, subject.Namespace, subject.Name)...)
		case subject.Kind == rbacv1.UserKind:
			account, isAccount := strings.CutPrefix(subject.Name, "system:serviceaccount:")
			if of, name, ok := strings.Cut(account, ":"); ok && isAccount {
				out = append(out, t.ofAccount(ctx, of, name)...)
			}
		case subject.Name == "system:serviceaccounts" || subject.Name == "system:authenticated":
			out = append(out, t.csvs(ctx, client.InNamespace(namespace))...)
		default:
			if of, ok := strings.CutPrefix(subject.Name, "system:serviceaccounts:"); ok {
				out = append(out, t.csvs(ctx, client.InNamespace(of))...)
			}
		}
	}
	return slices.DeleteFunc(out, func(r reconcile.Request) bool { return namespace != "" && r.Namespace != namespace })
}

// ofAccount are the CSVs whose permissions are for a service account, and all of its namespace if installs there are
// limited to its rights.
func (t *triggers) ofAccount(ctx context.Context, namespace, name string) []reconcile.Request {
	var groups v1.OperatorGroupList
	if err := t.cache.List(ctx, &groups, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	if slices.ContainsFunc(groups.Items, func(g v1.OperatorGroup) bool { return g.Spec.ServiceAccountName == name }) {
		return t.csvs(ctx, client.InNamespace(namespace))
	}
	return t.csvs(ctx, client.InNamespace(namespace), client.MatchingFields{indexByAccount: name})
}

// usingRole are the owner of a role, and the CSVs that hold it by way of bindings.
func (t *triggers) usingRole(ctx context.Context, o client.Object) []reconcile.Request {
	out := t.owner(ctx, o)
	ref := rbacv1.RoleRef{Kind: "Role", Name: o.GetName()}
	if _, ok := o.(*rbacv1.ClusterRole); ok {
		ref.Kind = "ClusterRole"
	}
	bound := client.MatchingFields{indexByRole: roleKey(o.GetNamespace(), ref)}
	var bindings rbacv1.RoleBindingList
	if err := t.cache.List(ctx, &bindings, bound, client.UnsafeDisableDeepCopy); err != nil {
		return out
	}
	for i := range bindings.Items {
		out = append(out, t.usingSubjects(ctx, bindings.Items[i].Namespace, bindings.Items[i].Subjects)...)
	}
	var clusterBindings rbacv1.ClusterRoleBindingList
	if err := t.cache.List(ctx, &clusterBindings, bound, client.UnsafeDisableDeepCopy); err != nil {
		return out
	}
	for i := range clusterBindings.Items {
		out = append(out, t.usingSubjects(ctx, "", clusterBindings.Items[i].Subjects)...)
	}
	return out
}
