package bundle

import (
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LiftRole is the ClusterRole that stands for a Role of an operator whose OperatorGroup targets all namespaces: same
// name, labels and rules, and the right to see namespaces.
func LiftRole(role *rbacv1.Role) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		TypeMeta:   rbacType("ClusterRole"),
		ObjectMeta: metav1.ObjectMeta{Name: role.Name, Labels: maps.Clone(role.Labels)},
		Rules: append(copyRules(role.Rules), rbacv1.PolicyRule{
			Verbs:     []string{"get", "list", "watch"},
			APIGroups: []string{""},
			Resources: []string{"namespaces"},
		}),
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
