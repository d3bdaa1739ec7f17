package clusterserviceversion

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/bundle"
)

// liftedFromAnnotation marks ClusterRoles and ClusterRoleBindings that stand for a Role or RoleBinding of this
// namespace, and tells them from those that the operator asked for.
const liftedFromAnnotation = "fairlead.dev/lifted-from"

// lifted are the ClusterRoles and ClusterRoleBindings that stand for the CSV's own Roles and RoleBindings. Where the
// operator asked for a ClusterRole or ClusterRoleBinding of the same name, that one stays.
func (f *facts) lifted(ctx context.Context, owned *roleSet) ([]client.Object, error) {
	asked := map[string]bool{}
	for _, o := range clusterScoped(owned) {
		if !f.isLifted(o) {
			asked[identity(o)] = true
		}
	}
	var out []client.Object
	add := func(o client.Object) error {
		if asked[identity(o)] {
			return nil
		}
		name, err := f.ownName(ctx, o)
		o.SetName(name)
		o.SetAnnotations(map[string]string{liftedFromAnnotation: f.csv.Namespace})
		out = append(out, o)
		return err
	}
	names := map[string]string{}
	for i := range owned.roles {
		if role := &owned.roles[i]; f.original(role) {
			lifted := bundle.LiftRole(role)
			if err := add(lifted); err != nil {
				return nil, err
			}
			names[role.Name] = lifted.Name
		}
	}
	for i := range owned.bindings {
		binding := &owned.bindings[i]
		if !f.original(binding) {
			continue
		}
		lifted := bundle.LiftRoleBinding(binding)
		lifted.RoleRef.Name = renamed(names, binding.RoleRef)
		if err := add(lifted); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// isLifted says whether a ClusterRole or ClusterRoleBinding of the CSV was lifted.
func (f *facts) isLifted(object client.Object) bool {
	return object.GetAnnotations()[liftedFromAnnotation] == f.csv.Namespace
}
