package clusterserviceversion

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// promoted are the ClusterRoles and ClusterRoleBindings that stand for those Roles and RoleBindings of the CSV's namespace which carry its owner labels
// although it does not ask for them, such as Roles that a user labelled. Names are the lifted roles by those of the Roles that it asks for; what is promoted
// is added.
//
// A client that may write Roles in the namespace, such as its administrator, thereby changes what the operator may do in others. So the OperatorGroup, which
// only administrators of the cluster write, has to ask for it; nothing is promoted in a group with an account, which bounds what its namespace may do; only
// the accounts that the operator runs as are bound; and only roles that were lifted here are bound to, never a ClusterRole of that name.
func (f *facts) promoted(ctx context.Context, accounts []*bundle.AccountRBAC, owned *roleSet, names map[string]string) ([]client.Object, error) {
	group, err := f.group(ctx)
	if err != nil || group == nil || group.Spec.ServiceAccountName != "" || group.Annotations[v1alpha1.PromoteRolesAnnotation] != "true" {
		return nil, err
	}
	var out []client.Object
	for i := range owned.roles {
		role := &owned.roles[i]
		if names[role.Name] != "" || !f.promotable(role) {
			continue
		}
		lifted := bundle.LiftRole(role)
		named, err := f.nameAsPromoted(ctx, lifted)
		if err != nil {
			return nil, err
		}
		if named {
			names[role.Name] = lifted.Name
			out = append(out, lifted)
		}
	}
	for i := range owned.bindings {
		binding := &owned.bindings[i]
		subjects := f.subjectsOf(binding, accounts)
		to := names[binding.RoleRef.Name]
		if isAskedFor(binding.Name, accounts) || !f.promotable(binding) || binding.RoleRef.Kind != "Role" || to == "" || len(subjects) == 0 {
			continue
		}
		lifted := bundle.LiftRoleBinding(binding)
		lifted.RoleRef.Name, lifted.Subjects = to, subjects
		named, err := f.nameAsPromoted(ctx, lifted)
		if err != nil {
			return nil, err
		}
		if named {
			out = append(out, lifted)
		}
	}
	return out, nil
}

// promotable reports whether an object with the owner labels of the CSV is in its namespace, and was not made there by this controller for another purpose.
func (f *facts) promotable(o client.Object) bool {
	return o.GetNamespace() == f.csv.Namespace && o.GetDeletionTimestamp().IsZero() && !f.isServingAccess(o) && !f.isCopied(o)
}

// nameAsPromoted gives a promoted object a name, and reports whether there is one. Without one it is left out: a label must not keep the operator from being
// installed.
func (f *facts) nameAsPromoted(ctx context.Context, o client.Object) (bool, error) {
	o.SetAnnotations(map[string]string{liftedFromAnnotation: f.csv.Namespace})
	o.SetLabels(bundle.OwnerLabels(f.csv)) // any other label may make cluster roles gather the rules
	err := f.nameAsOwn(ctx, o)
	if err != nil && isOurRefusal(err) {
		return false, nil
	}
	return err == nil, err
}

// subjectsOf are the subjects of a binding that the operator runs as.
func (f *facts) subjectsOf(binding *rbacv1.RoleBinding, accounts []*bundle.AccountRBAC) []rbacv1.Subject {
	var out []rbacv1.Subject
	for _, s := range binding.Subjects {
		if s.Kind == rbacv1.ServiceAccountKind && s.Namespace == f.csv.Namespace && slices.ContainsFunc(accounts, func(a *bundle.AccountRBAC) bool { return a.Name == s.Name }) {
			out = append(out, s)
		}
	}
	return out
}

// isAskedFor reports whether a RoleBinding is one that the CSV asks for.
func isAskedFor(name string, accounts []*bundle.AccountRBAC) bool {
	return slices.ContainsFunc(accounts, func(a *bundle.AccountRBAC) bool {
		return slices.ContainsFunc(a.RoleBindings, func(b *rbacv1.RoleBinding) bool { return b.Name == name })
	})
}
