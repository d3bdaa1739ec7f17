package ops

import (
	"context"
	"slices"

	"fairlead.dev/fairlead/internal/ops/migrate"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// release takes off the objects what ties them to the v0 API. An OperatorCondition is of both.
func (m adoption) release(ctx context.Context) error {
	b := m.Backup
	for _, u := range b.Adopted {
		if u.GetKind() == "OperatorCondition" {
			// Take an OperatorCondition, and the Role and the RoleBinding that its controller makes, out of the list of the Operator.
			roles := rbacv1.SchemeGroupVersion.String()
			for _, ref := range []migrate.Ref{migrate.RefOf(u), {APIVersion: roles, Kind: "Role", Namespace: u.GetNamespace(), Name: u.GetName()},
				{APIVersion: roles, Kind: "RoleBinding", Namespace: u.GetNamespace(), Name: u.GetName()}} {
				if err := m.edit(ctx, ref, func(o client.Object) bool { return migrate.Unlist(o) }); err != nil {
					return err
				}
			}
			continue
		}
		if err := m.edit(ctx, migrate.RefOf(u), func(o client.Object) bool { return b.Release(o, true) }); err != nil {
			return err
		}
	}
	for _, u := range b.Left {
		if err := m.edit(ctx, migrate.RefOf(u), func(o client.Object) bool { return b.Release(o, false) }); err != nil {
			return err
		}
	}
	return nil
}

// clear removes what is left: bindings before the roles that they are to, and the Operator, which lists them, when they are gone: the manager
// would make it again.
func (m adoption) clear(ctx context.Context) error {
	b := m.Backup
	for _, last := range []bool{false, true} {
		for _, u := range slices.Backward(b.Removed) {
			if last != (u.GetKind() == "Operator") {
				continue
			}
			if err := m.remove(ctx, migrate.RefOf(u)); err != nil {
				return err
			}
		}
		for _, u := range b.Plans {
			if err := m.gone(ctx, migrate.RefOf(u), string(u.GetUID())); err != nil {
				return err
			}
		}
	}
	return nil
}
