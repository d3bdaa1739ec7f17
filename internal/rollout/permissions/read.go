package permissions

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Read is what a cluster holds about the permissions to write objects and to make further requests. It is what was true when it was read, and
// may be asked for any subject. The reader may be a cache, whose objects are not copied; the mapper tells the resources of kinds.
func Read(ctx context.Context, reader client.Reader, mapper Resources, objects []*unstructured.Unstructured, extra ...Need) (RuleSource, error) {
	rbac := RBAC{Resources: mapper}
	var clusterRoles rbacv1.ClusterRoleList
	if err := list(ctx, reader, &clusterRoles, "ClusterRoles", ""); err != nil {
		return nil, err
	}
	rbac.ClusterRoles = pointers(clusterRoles.Items)
	var clusterRoleBindings rbacv1.ClusterRoleBindingList
	if err := list(ctx, reader, &clusterRoleBindings, "ClusterRoleBindings", ""); err != nil {
		return nil, err
	}
	rbac.ClusterRoleBindings = pointers(clusterRoleBindings.Items)
	for _, namespace := range Namespaces(objects, extra...) {
		var roles rbacv1.RoleList
		if err := list(ctx, reader, &roles, "Roles", namespace); err != nil {
			return nil, err
		}
		rbac.Roles = append(rbac.Roles, pointers(roles.Items)...)
		var roleBindings rbacv1.RoleBindingList
		if err := list(ctx, reader, &roleBindings, "RoleBindings", namespace); err != nil {
			return nil, err
		}
		rbac.RoleBindings = append(rbac.RoleBindings, pointers(roleBindings.Items)...)
	}
	return rbac.Source(), nil
}

func list(ctx context.Context, reader client.Reader, into client.ObjectList, what, namespace string) error {
	if err := reader.List(ctx, into, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		if namespace != "" {
			what += " of namespace " + namespace
		}
		return fmt.Errorf("list the %s, to see which permissions are granted: %w", what, err)
	}
	return nil
}

func pointers[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}
