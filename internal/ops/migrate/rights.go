package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Rights are the roles and bindings that come back, each with what it allows or to whom.
func (b *Backup) Rights() ([]string, error) {
	var out []string
	for _, u := range b.Removed {
		if u.GetKind() == "Operator" {
			continue
		}
		text, err := right(u)
		if err != nil {
			return nil, fmt.Errorf("read %s of the backup: %w", RefOf(u), err)
		}
		out = append(out, RefOf(u).String()+": "+text)
	}
	return out, nil
}

// right is what a role allows, or what a binding gives to whom.
func right(u *unstructured.Unstructured) (string, error) {
	if strings.HasSuffix(u.GetKind(), "Binding") {
		var b rbacv1.ClusterRoleBinding // which has the fields of a RoleBinding
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &b); err != nil {
			return "", err
		}
		var whom []string
		for _, s := range b.Subjects {
			name := s.Name
			if s.Namespace != "" {
				name = s.Namespace + "/" + s.Name
			}
			whom = append(whom, s.Kind+" "+name)
		}
		return fmt.Sprintf("%s %s for %s", b.RoleRef.Kind, b.RoleRef.Name, strings.Join(whom, ", ")), nil
	}
	var r rbacv1.ClusterRole // which has the fields of a Role
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &r); err != nil {
		return "", err
	}
	var rules []string
	for _, rule := range r.Rules {
		// A rule in a line: verbs, what they are for, and which.
		parts := []string{strings.Join(rule.Verbs, ",")}
		if len(rule.Resources) > 0 {
			groups := slices.Clone(rule.APIGroups)
			for i := range groups {
				groups[i] = cmp.Or(groups[i], "core")
			}
			parts = append(parts, strings.Join(rule.Resources, ",")+" of "+strings.Join(groups, ","))
		}
		parts = append(parts, rule.NonResourceURLs...)
		if len(rule.ResourceNames) > 0 {
			parts = append(parts, "named "+strings.Join(rule.ResourceNames, ","))
		}
		rules = append(rules, strings.Join(parts, " "))
	}
	if r.AggregationRule != nil {
		rules = append(rules, "the rules of other ClusterRoles, by label")
	}
	return strings.Join(rules, "; "), nil
}
