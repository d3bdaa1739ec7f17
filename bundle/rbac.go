package bundle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

const (
	// DefaultServiceAccount is the account of pods and permissions that name none. It exists in every namespace and is never created.
	DefaultServiceAccount = "default"
	serviceAccountKind    = "ServiceAccount"
)

var accountType = metav1.TypeMeta{APIVersion: "v1", Kind: serviceAccountKind}

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
	strategy, d := csv.Spec.InstallStrategy.StrategySpec, owned{csv}
	namespaced, err := grants(csv, d, strategy.Permissions, csv.Namespace, false)
	if err != nil {
		return nil, fmt.Errorf("permissions of ClusterServiceVersion %s: %w", csv.Name, err)
	}
	cluster, err := grants(csv, d, strategy.ClusterPermissions, "", true)
	if err != nil {
		return nil, fmt.Errorf("clusterPermissions of ClusterServiceVersion %s: %w", csv.Name, err)
	}
	var out []*AccountRBAC
	for _, g := range append(namespaced, cluster...) {
		at := slices.IndexFunc(out, func(a *AccountRBAC) bool { return a.Name == g.account })
		if at < 0 {
			account := &AccountRBAC{Name: g.account}
			if g.account != DefaultServiceAccount {
				meta := d.meta(g.account, false)
				meta.Labels = nil
				account.ServiceAccount = &corev1.ServiceAccount{TypeMeta: accountType, ObjectMeta: meta}
			}
			at, out = len(out), append(out, account)
		}
		switch role := g.role.(type) {
		case *rbacv1.Role:
			out[at].Roles, out[at].RoleBindings = append(out[at].Roles, role), append(out[at].RoleBindings, g.binding.(*rbacv1.RoleBinding))
		case *rbacv1.ClusterRole:
			out[at].ClusterRoles = append(out[at].ClusterRoles, role)
			out[at].ClusterRoleBindings = append(out[at].ClusterRoleBindings, g.binding.(*rbacv1.ClusterRoleBinding))
		}
	}
	return out, nil
}

// grant is a permission of a service account as a role and its binding.
type grant struct {
	account       string
	role, binding runtime.Object
}

// grants are the permissions in their order, each once: for the cluster, or for a namespace.
func grants(csv *v1alpha1.ClusterServiceVersion, d dialect, permissions []v1alpha1.StrategyDeploymentPermissions, namespace string, cluster bool) ([]grant, error) {
	kind := "Role"
	if cluster {
		kind = "ClusterRole"
	}
	var out []grant
	done := map[string]bool{}
	for i := range permissions {
		p := *permissions[i].DeepCopy()
		name, err := d.roleName(p, cluster)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		if done[name] {
			continue // the same permission once more
		}
		done[name] = true
		account := cmp.Or(p.ServiceAccountName, DefaultServiceAccount)
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
		subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: csv.Namespace}}
		rulesHash, err := PermissionHash(p.Rules)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		bindingHash, err := BindingHash(ref, subjects)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		role, binding := d.roleMeta(name, namespace, cluster, rulesHash), d.roleMeta(name, namespace, cluster, bindingHash)
		g := grant{account: account}
		if cluster {
			g.role = &rbacv1.ClusterRole{TypeMeta: rbacType(kind), ObjectMeta: role, Rules: p.Rules}
			g.binding = &rbacv1.ClusterRoleBinding{TypeMeta: rbacType("ClusterRoleBinding"), ObjectMeta: binding, RoleRef: ref, Subjects: subjects}
		} else {
			g.role = &rbacv1.Role{TypeMeta: rbacType(kind), ObjectMeta: role, Rules: p.Rules}
			g.binding = &rbacv1.RoleBinding{TypeMeta: rbacType("RoleBinding"), ObjectMeta: binding, RoleRef: ref, Subjects: subjects}
		}
		out = append(out, g)
	}
	return out, nil
}

func rbacType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

// liftedRules are the rules of an operator that watches all namespaces: it has to see which ones there are.
func liftedRules(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	return append(slices.Clip(rules), rbacv1.PolicyRule{
		Verbs: []string{"get", "list", "watch"}, APIGroups: []string{corev1.GroupName}, Resources: []string{"namespaces"},
	})
}

// LiftRole is the ClusterRole that stands for a Role of an operator whose OperatorGroup targets all namespaces: same
// name, labels and rules, and the right to see namespaces.
func LiftRole(role *rbacv1.Role) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		TypeMeta:   rbacType("ClusterRole"),
		ObjectMeta: metav1.ObjectMeta{Name: role.Name, Labels: maps.Clone(role.Labels)},
		Rules:      liftedRules(role.DeepCopy().Rules),
	}
}

// LiftRoleBinding is the ClusterRoleBinding that stands for a RoleBinding of such an operator, to the lifted role.
func LiftRoleBinding(binding *rbacv1.RoleBinding) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta:   rbacType("ClusterRoleBinding"),
		ObjectMeta: metav1.ObjectMeta{Name: binding.Name, Labels: maps.Clone(binding.Labels)},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: binding.RoleRef.Name},
		Subjects:   slices.Clone(binding.Subjects),
	}
}
