package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/bundle"
)

// roleSet is the roles and bindings with the owner labels of a CSV.
type roleSet struct {
	roles           []rbacv1.Role
	bindings        []rbacv1.RoleBinding
	clusterRoles    []rbacv1.ClusterRole
	clusterBindings []rbacv1.ClusterRoleBinding
}

// ownedRoles reads the roles and bindings of the CSV in all namespaces.
func (f *facts) ownedRoles(ctx context.Context) (*roleSet, error) {
	var roles rbacv1.RoleList
	var bindings rbacv1.RoleBindingList
	var clusterRoles rbacv1.ClusterRoleList
	var clusterBindings rbacv1.ClusterRoleBindingList
	for _, list := range []client.ObjectList{&roles, &bindings, &clusterRoles, &clusterBindings} {
		if err := f.c.client.List(ctx, list, client.MatchingFields{indexByOwner: f.name()}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list the roles of ClusterServiceVersion %s: %w", f.name(), err)
		}
	}
	return &roleSet{roles.Items, bindings.Items, clusterRoles.Items, clusterBindings.Items}, nil
}

// extend works out what gives the operator its permissions in its target namespaces: lifted to the cluster where these
// are all namespaces, copied where they are others than its own. It also returns what did so before and no longer does.
//
// Of the Roles that the CSV asks for, what it says is the only source: a client that may edit them in its namespace would get in other namespaces what it
// may have in this one only. Further Roles with the labels of the CSV are lifted within the bounds of promotable.
func (f *facts) extend(ctx context.Context) (wanted, surplus []client.Object, err error) {
	targets, err := f.targets(ctx)
	if err != nil {
		return nil, nil, err
	}
	accounts, err := bundle.RBAC(f.csv)
	if err != nil {
		return nil, nil, refused(err)
	}
	owned, err := f.ownedRoles(ctx)
	if err != nil {
		return nil, nil, err
	}
	if slices.Contains(targets, metav1.NamespaceAll) {
		wanted, err = f.lifted(ctx, accounts, owned)
	} else {
		wanted, err = f.copied(ctx, accounts, targets)
	}
	if err != nil {
		return nil, nil, err
	}
	keep := map[string]bool{}
	for _, o := range wanted {
		keep[identity(o)] = true
	}
	return wanted, f.surplus(owned, func(o client.Object) bool { return keep[identity(o)] }), nil
}

// surplus are the lifted and copied roles and bindings that are not to be kept.
func (f *facts) surplus(owned *roleSet, keep func(client.Object) bool) []client.Object {
	var out []client.Object
	for _, o := range clusterScoped(owned) {
		if f.isLifted(o) && !keep(o) {
			out = append(out, o)
		}
	}
	for _, o := range namespaced(owned) {
		if f.isCopied(o) && !keep(o) {
			out = append(out, o)
		}
	}
	return out
}

func clusterScoped(owned *roleSet) []client.Object {
	var out []client.Object
	for i := range owned.clusterRoles {
		out = append(out, &owned.clusterRoles[i])
	}
	for i := range owned.clusterBindings {
		out = append(out, &owned.clusterBindings[i])
	}
	return out
}

func namespaced(owned *roleSet) []client.Object {
	var out []client.Object
	for i := range owned.roles {
		out = append(out, &owned.roles[i])
	}
	for i := range owned.bindings {
		out = append(out, &owned.bindings[i])
	}
	return out
}

// identity tells objects apart.
func identity(o client.Object) string {
	return kindOf(o) + " " + client.ObjectKeyFromObject(o).String()
}
