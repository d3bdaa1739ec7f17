package permissions

import (
	"slices"

	"fairlead.dev/fairlead/catalog/safetext"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// everything is what a person has to hold who makes a ClusterRole that aggregates others: it can gather any rule.
var everything = []rbacv1.PolicyRule{
	{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
	{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
}

// handedOn needs what the API server asks of the one who writes the roles and bindings among the objects: the verb escalate or bind, or all the
// rights that are handed on.
func (s *search) handedOn() error {
	for name, role := range s.own.clusterRoles {
		existing, err := s.source.ClusterRole(name)
		if err != nil {
			return err
		}
		rules := role.Rules
		if len(selectors(role)) > 0 {
			rules = append(slices.Clip(rules), everything...)
		}
		if err := s.role("", "clusterroles", name, existing != nil, rules); err != nil {
			return err
		}
	}
	for key, role := range s.own.roles {
		existing, err := s.source.Role(key[0], key[1])
		if err != nil {
			return err
		}
		if err := s.role(key[0], "roles", key[1], existing != nil, role.Rules); err != nil {
			return err
		}
	}
	for _, binding := range s.own.clusterRoleBindings {
		if err := s.binding("", "ClusterRoleBinding "+safetext.Truncate(binding.Name, maxName), binding.RoleRef); err != nil {
			return err
		}
	}
	for _, binding := range s.own.roleBindings {
		if err := s.binding(binding.Namespace, "RoleBinding "+safetext.Truncate(binding.Namespace+"/"+binding.Name, maxName), binding.RoleRef); err != nil {
			return err
		}
	}
	return nil
}

// role needs to be allowed to escalate a role, or to hold its rules. A request that creates an object does not name it, so rules with names
// do not allow that.
func (s *search) role(namespace, resource, name string, exists bool, rules []rbacv1.PolicyRule) error {
	escalate := right{namespace: namespace, group: rbacv1.GroupName, resource: resource, verb: "escalate", named: exists}
	if exists {
		escalate.name = name
	}
	allowed, err := s.held.allows(escalate)
	if err != nil || allowed {
		return err
	}
	return s.handOnAll(namespace, rules)
}

// binding needs to be allowed to bind a role, or to hold its rules.
func (s *search) binding(namespace, described string, ref rbacv1.RoleRef) error {
	resource := map[string]string{"ClusterRole": "clusterroles", "Role": "roles"}[ref.Kind]
	if resource == "" || resource == "roles" && namespace == "" {
		s.incomplete("%s refers to a %s, which it cannot", described, safetext.Truncate(ref.Kind, maxName))
		return nil
	}
	allowed, err := s.held.allows(right{namespace: namespace, group: rbacv1.GroupName, resource: resource, verb: "bind", named: true, name: ref.Name})
	if err != nil || allowed {
		return err
	}
	rules, found, err := s.rulesOf(namespace, ref)
	if err != nil {
		return err
	}
	if !found {
		s.incomplete("%s refers to the %s %s, which neither the cluster nor the bundle has", described, ref.Kind, safetext.Truncate(ref.Name, maxName))
		return nil
	}
	return s.handOnAll(namespace, rules)
}

// handOnAll needs rights to be held, because another client is given them.
func (s *search) handOnAll(namespace string, rules []rbacv1.PolicyRule) error {
	for _, rule := range rules {
		rights, err := s.work.parts(namespace, rule)
		if err != nil {
			return err
		}
		for _, r := range rights {
			covered, err := s.held.covers(r)
			if err != nil {
				return err
			}
			if r.url != "" {
				r.namespace = "" // paths have none: only a ClusterRole can have them
			}
			if !covered {
				s.missing[r] = true
			}
		}
	}
	return nil
}

// rulesOf are the rules of a role when the objects have been written: theirs, and those of the cluster.
func (s *search) rulesOf(namespace string, ref rbacv1.RoleRef) ([]rbacv1.PolicyRule, bool, error) {
	if ref.Kind == "Role" {
		if own := s.own.roles[[2]string{namespace, ref.Name}]; own != nil {
			return own.Rules, true, nil
		}
		role, err := s.source.Role(namespace, ref.Name)
		if err != nil || role == nil {
			return nil, false, err
		}
		return role.Rules, true, nil
	}
	role, isOwn := s.own.clusterRoles[ref.Name]
	if !isOwn {
		var err error
		if role, err = s.source.ClusterRole(ref.Name); err != nil || role == nil {
			return nil, false, err
		}
	}
	rules := slices.Clip(role.Rules)
	for _, selector := range selectors(role) {
		for _, other := range s.own.clusterRoles {
			if other != role && selector.Matches(labels.Set(other.Labels)) {
				rules = append(rules, other.Rules...)
			}
		}
		if !isOwn {
			continue // those of the cluster are in its rules already
		}
		selected, err := s.source.ClusterRoles(selector)
		if err != nil {
			return nil, false, err
		}
		for _, other := range selected {
			if s.own.clusterRoles[other.Name] == nil {
				rules = append(rules, other.Rules...)
			}
		}
	}
	return rules, true, nil
}
