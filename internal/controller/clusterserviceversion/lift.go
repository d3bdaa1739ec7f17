package clusterserviceversion

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/bundle"
)

// liftedFromAnnotation marks ClusterRoles and ClusterRoleBindings that stand for a Role or RoleBinding of this
// namespace, and tells them from those that the operator asked for.
const liftedFromAnnotation = "fairlead.dev/lifted-from"

// lifted are the ClusterRoles and ClusterRoleBindings that stand for the Roles and RoleBindings that the CSV asks for, and for further ones that carry
// its labels.
func (f *facts) lifted(ctx context.Context, accounts []*bundle.AccountRBAC, owned *roleSet) ([]client.Object, error) {
	var out []client.Object
	names := map[string]string{} // of the lifted roles, by those of the Roles
	for _, account := range accounts {
		for i := range account.Roles {
			role, binding := bundle.LiftRole(account.Roles[i]), bundle.LiftRoleBinding(account.RoleBindings[i])
			for _, o := range []client.Object{role, binding} {
				o.SetAnnotations(map[string]string{liftedFromAnnotation: f.csv.Namespace})
				if err := f.nameAsOwn(ctx, o); err != nil {
					return nil, err
				}
			}
			binding.RoleRef.Name = role.Name
			names[account.Roles[i].Name] = role.Name
			out = append(out, role, binding)
		}
	}
	more, err := f.promoted(ctx, accounts, owned, names)
	return append(out, more...), err
}

// isLifted says whether a ClusterRole or ClusterRoleBinding of the CSV was lifted.
func (f *facts) isLifted(object client.Object) bool {
	return object.GetAnnotations()[liftedFromAnnotation] == f.csv.Namespace
}
