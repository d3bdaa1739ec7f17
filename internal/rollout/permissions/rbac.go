package permissions

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// RBAC is a RuleSource of lists of objects.
type RBAC struct {
	ClusterRoles        []*rbacv1.ClusterRole
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding
	Roles               []*rbacv1.Role
	RoleBindings        []*rbacv1.RoleBinding
	Resources
}

// Source is the RuleSource of the lists, which must not change afterwards.
func (r RBAC) Source() RuleSource {
	s := &source{Resources: r.Resources, rbac: r, clusterRoles: map[string]*rbacv1.ClusterRole{}, roles: map[[2]string]*rbacv1.Role{}}
	for _, role := range r.ClusterRoles {
		s.clusterRoles[role.Name] = role
	}
	for _, role := range r.Roles {
		s.roles[[2]string{role.Namespace, role.Name}] = role
	}
	return s
}

type source struct {
	Resources
	rbac         RBAC
	clusterRoles map[string]*rbacv1.ClusterRole
	roles        map[[2]string]*rbacv1.Role
}

func (s *source) Rules(subject Subject, namespace string) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	if namespace == "" {
		for _, binding := range s.rbac.ClusterRoleBindings {
			if subject.is(binding.Subjects, "") && binding.RoleRef.Kind == "ClusterRole" {
				rules = append(rules, s.clusterRules(binding.RoleRef.Name)...)
			}
		}
		return rules, nil
	}
	for _, binding := range s.rbac.RoleBindings {
		if binding.Namespace != namespace || !subject.is(binding.Subjects, namespace) {
			continue
		}
		switch binding.RoleRef.Kind {
		case "ClusterRole":
			rules = append(rules, s.clusterRules(binding.RoleRef.Name)...)
		case "Role":
			if role := s.roles[[2]string{namespace, binding.RoleRef.Name}]; role != nil {
				rules = append(rules, role.Rules...)
			}
		}
	}
	return rules, nil
}

func (s *source) Role(namespace, name string) (*rbacv1.Role, error) {
	return s.roles[[2]string{namespace, name}], nil
}

func (s *source) ClusterRole(name string) (*rbacv1.ClusterRole, error) {
	role := s.clusterRoles[name]
	if role == nil || role.AggregationRule == nil {
		return role, nil
	}
	whole := *role
	whole.Rules = s.clusterRules(name)
	return &whole, nil
}

func (s *source) ClusterRoles(selector labels.Selector) ([]*rbacv1.ClusterRole, error) {
	var selected []*rbacv1.ClusterRole
	for _, role := range s.rbac.ClusterRoles {
		if selector.Matches(labels.Set(role.Labels)) {
			selected = append(selected, role)
		}
	}
	return selected, nil
}

// clusterRules are the rules of a ClusterRole. Those that it aggregates are written into it by a controller of the cluster, a little later or,
// where the objects come from files, never; so they are collected here as well.
func (s *source) clusterRules(name string) []rbacv1.PolicyRule {
	role := s.clusterRoles[name]
	if role == nil {
		return nil
	}
	rules := slices.Clip(role.Rules)
	for _, selector := range selectors(role) {
		selected, _ := s.ClusterRoles(selector) // cannot fail
		for _, other := range selected {
			if other != role {
				rules = append(rules, other.Rules...)
			}
		}
	}
	return rules
}

// selectors are those of the ClusterRoles that a ClusterRole aggregates. One that is not valid selects nothing, as in the cluster.
func selectors(role *rbacv1.ClusterRole) []labels.Selector {
	if role.AggregationRule == nil {
		return nil
	}
	var found []labels.Selector
	for i := range role.AggregationRule.ClusterRoleSelectors {
		if selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i]); err == nil {
			found = append(found, selector)
		}
	}
	return found
}
