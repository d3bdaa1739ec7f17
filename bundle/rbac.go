package bundle

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// defaultServiceAccount exists in every namespace and is never created.
const defaultServiceAccount = "default"

// AccountRBAC is one service account of a ClusterServiceVersion with what its permissions become: a Role and a
// RoleBinding for each permission, a ClusterRole and a ClusterRoleBinding for each cluster permission.
type AccountRBAC struct {
	Name                string
	ServiceAccount      *corev1.ServiceAccount // nil for the default account, which exists anyway
	Roles               []*rbacv1.Role
	RoleBindings        []*rbacv1.RoleBinding
	ClusterRoles        []*rbacv1.ClusterRole
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding
}

// RBAC returns the service accounts of a ClusterServiceVersion, in the order in which its permissions and then its
// cluster permissions name them, with all objects in the namespace of the ClusterServiceVersion. Names and labels
// follow from the name and namespace of the ClusterServiceVersion and from the permission alone.
func RBAC(csv *v1alpha1.ClusterServiceVersion) ([]*AccountRBAC, error) {
	strategy := csv.Spec.InstallStrategy.StrategySpec
	accounts := &accountSet{csv: csv}
	for i, permission := range strategy.Permissions {
		if err := accounts.get(permission).addRole(csv, permission); err != nil {
			return nil, fmt.Errorf("permissions[%d] of ClusterServiceVersion %s: %w", i, csv.Name, err)
		}
	}
	for i, permission := range strategy.ClusterPermissions {
		if err := accounts.get(permission).addClusterRole(csv, permission); err != nil {
			return nil, fmt.Errorf("clusterPermissions[%d] of ClusterServiceVersion %s: %w", i, csv.Name, err)
		}
	}
	return accounts.list, nil
}

// accountSet holds service accounts in the order of their first use.
type accountSet struct {
	csv  *v1alpha1.ClusterServiceVersion
	list []*AccountRBAC
}

func (s *accountSet) get(permission v1alpha1.StrategyDeploymentPermissions) *AccountRBAC {
	name := accountName(permission.ServiceAccountName)
	for _, account := range s.list {
		if account.Name == name {
			return account
		}
	}
	account := &AccountRBAC{Name: name}
	if name != defaultServiceAccount {
		meta := ownedMeta(s.csv, name)
		meta.Labels = nil
		account.ServiceAccount = &corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta: meta,
		}
	}
	s.list = append(s.list, account)
	return account
}

// accountName is the account that a permission or a pod means; none is the default one.
func accountName(name string) string {
	if name == "" {
		return defaultServiceAccount
	}
	return name
}

func (a *AccountRBAC) addRole(csv *v1alpha1.ClusterServiceVersion, p v1alpha1.StrategyDeploymentPermissions) error {
	name, err := hashedName(csv.Name+"-"+p.ServiceAccountName, []any{csv.Name, p})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(a.Roles, func(r *rbacv1.Role) bool { return r.Name == name }) {
		return nil // the same permission once more
	}
	hash, err := PermissionHash(p.Rules)
	if err != nil {
		return err
	}
	role := &rbacv1.Role{
		TypeMeta:   rbacType("Role"),
		ObjectMeta: ownedMeta(csv, name),
		Rules:      copyRules(p.Rules),
	}
	role.Labels[v1alpha1.PermissionsHashLabel] = hash
	binding := &rbacv1.RoleBinding{
		TypeMeta:   rbacType("RoleBinding"),
		ObjectMeta: ownedMeta(csv, name),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   a.subjects(csv.Namespace),
	}
	if binding.Labels[v1alpha1.PermissionsHashLabel], err = BindingHash(binding.RoleRef, binding.Subjects); err != nil {
		return err
	}
	a.Roles = append(a.Roles, role)
	a.RoleBindings = append(a.RoleBindings, binding)
	return nil
}

// addClusterRole adds a permission for the cluster. Its name depends on the namespace as well, because the operator may
// run in several.
func (a *AccountRBAC) addClusterRole(csv *v1alpha1.ClusterServiceVersion, p v1alpha1.StrategyDeploymentPermissions) error {
	name, err := hashedName(csv.Name, []any{csv.Name, csv.Namespace, p})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(a.ClusterRoles, func(r *rbacv1.ClusterRole) bool { return r.Name == name }) {
		return nil
	}
	hash, err := PermissionHash(p.Rules)
	if err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{
		TypeMeta:   rbacType("ClusterRole"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: OwnerLabels(csv)},
		Rules:      copyRules(p.Rules),
	}
	role.Labels[v1alpha1.PermissionsHashLabel] = hash
	binding := &rbacv1.ClusterRoleBinding{
		TypeMeta:   rbacType("ClusterRoleBinding"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: OwnerLabels(csv)},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   a.subjects(csv.Namespace),
	}
	if binding.Labels[v1alpha1.PermissionsHashLabel], err = BindingHash(binding.RoleRef, binding.Subjects); err != nil {
		return err
	}
	a.ClusterRoles = append(a.ClusterRoles, role)
	a.ClusterRoleBindings = append(a.ClusterRoleBindings, binding)
	return nil
}

func (a *AccountRBAC) subjects(namespace string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: a.Name, Namespace: namespace}}
}

func rbacType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

func copyRules(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	if rules == nil {
		return nil
	}
	out := make([]rbacv1.PolicyRule, len(rules))
	for i := range rules {
		rules[i].DeepCopyInto(&out[i])
	}
	return out
}
