package permissions

import (
	"errors"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// aggregatedTo begins the labels by which ClusterRoles of the cluster take up the rules of others; the name of the role follows.
const aggregatedTo = rbacv1.GroupName + "/aggregate-to-"

// given is what the objects of a revision allow whom.
type given struct {
	own *ownObjects
	// accounts are the service accounts among the objects.
	accounts map[string]bool
	rules    map[string][]scopedRules
	// roles are those that subjects are bound to without being among the objects, by subject.
	roles map[string]map[foreignRole]bool
	// actors are the objects that let a service account act, such as workloads, each with those accounts.
	actors map[string][]string
}

type scopedRules struct {
	namespace string
	rules     []rbacv1.PolicyRule
}

type foreignRole struct{ namespace, kind, name string }

func givenBy(objects []*unstructured.Unstructured, work *budget) (*given, error) {
	s := &search{reasons: map[string]bool{}}
	g := &given{own: s.lookThrough(objects), accounts: map[string]bool{}, rules: map[string][]scopedRules{}, roles: map[string]map[foreignRole]bool{}, actors: actors(objects)}
	if len(s.reasons) > 0 {
		return nil, errors.New(strings.Join(slices.Sorted(maps.Keys(s.reasons)), "; "))
	}
	for _, object := range objects {
		if object.GetKind() == rbacv1.ServiceAccountKind && object.GroupVersionKind().Group == "" {
			g.accounts[accountSubject(object.GetNamespace(), object.GetName())] = true
		}
	}
	for _, binding := range g.own.clusterRoleBindings {
		if err := g.bind("", binding.Subjects, binding.RoleRef, work); err != nil {
			return nil, err
		}
	}
	for _, binding := range g.own.roleBindings {
		if err := g.bind(binding.Namespace, binding.Subjects, binding.RoleRef, work); err != nil {
			return nil, err
		}
	}
	// Add what those get who are bound to ClusterRoles that take up rules by label. APIs that the objects define are left out.
	defined := map[string]bool{}
	for _, resource := range g.own.resources {
		defined[resource.group+"/"+resource.name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(g.own.clusterRoles)) {
		role := g.own.clusterRoles[name]
		var rules []rbacv1.PolicyRule
		for _, rule := range role.Rules {
			own := len(rule.NonResourceURLs) == 0
			for _, group := range rule.APIGroups {
				own = own && !slices.ContainsFunc(rule.Resources, func(resource string) bool {
					main, _, _ := strings.Cut(resource, "/")
					return !defined[group+"/"+main]
				})
			}
			if !own {
				rules = append(rules, rule)
			}
		}
		for label, value := range labels.Set(role.Labels) {
			if to, ok := strings.CutPrefix(label, aggregatedTo); ok && value == "true" && len(rules) > 0 {
				subject := "holders of the ClusterRole " + to
				g.rules[subject] = append(g.rules[subject], scopedRules{"", rules})
			}
		}
	}
	return g, nil
}

func accountSubject(namespace, name string) string {
	return rbacv1.ServiceAccountKind + " " + namespace + "/" + name
}

// subjectName names a subject; a service account that is named as a user is the same one.
func subjectName(subject rbacv1.Subject, namespace string) string {
	if subject.Kind != rbacv1.ServiceAccountKind {
		if in, name, ok := (Subject{User: subject.Name}).account(); ok && subject.Kind == rbacv1.UserKind {
			return accountSubject(in, name)
		}
		return subject.Kind + " " + subject.Name
	}
	if subject.Namespace != "" {
		namespace = subject.Namespace
	}
	return accountSubject(namespace, subject.Name)
}

func (g *given) bind(namespace string, subjects []rbacv1.Subject, ref rbacv1.RoleRef, work *budget) error {
	if err := work.step(1 + len(subjects)); err != nil {
		return err
	}
	rules, foreign := g.own.rules(namespace, ref)
	for _, subject := range subjects {
		name := subjectName(subject, namespace)
		g.rules[name] = append(g.rules[name], scopedRules{namespace, rules})
		for _, role := range foreign {
			if g.roles[name] == nil {
				g.roles[name] = map[foreignRole]bool{}
			}
			g.roles[name][foreignRole{namespace, role.kind, role.name}] = true
		}
	}
	return nil
}

// rules are those of a role as far as the objects tell; what they do not tell is named. Every cluster has cluster-admin.
func (own *ownObjects) rules(namespace string, ref rbacv1.RoleRef) ([]rbacv1.PolicyRule, []foreignRole) {
	foreign := []foreignRole{{kind: ref.Kind, name: ref.Name}}
	if ref.Kind == "Role" {
		if role := own.roles[[2]string{namespace, ref.Name}]; role != nil {
			return role.Rules, nil
		}
		return nil, foreign
	}
	role := own.clusterRoles[ref.Name]
	switch {
	case role == nil && ref.Name == "cluster-admin":
		return everything, nil
	case role == nil:
		return nil, foreign
	}
	rules := slices.Clip(role.Rules)
	foreign = nil
	for _, selector := range selectors(role) {
		foreign = append(foreign, foreignRole{kind: "ClusterRoles with the labels", name: selector.String()})
		for _, other := range own.clusterRoles {
			if other != role && selector.Matches(labels.Set(other.Labels)) {
				rules = append(rules, other.Rules...)
			}
		}
	}
	return rules, foreign
}
