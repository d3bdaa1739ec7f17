package clusterserviceversion

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// checkRules finds rules that no cluster can grant.
func checkRules(strategy v1alpha1.StrategyDetailsDeployment) error {
	for _, permissions := range [][]v1alpha1.StrategyDeploymentPermissions{strategy.Permissions, strategy.ClusterPermissions} {
		for _, permission := range permissions {
			for _, rule := range permission.Rules {
				if err := checkRule(rule); err != nil {
					return fmt.Errorf("a rule for service account %q: %w", permission.ServiceAccountName, err)
				}
			}
		}
	}
	return nil
}

func checkRule(rule rbacv1.PolicyRule) error {
	if len(rule.Verbs) == 0 {
		return fmt.Errorf("it has no verbs: %s", ruleText(rule))
	}
	if len(rule.Resources) > 0 && len(rule.NonResourceURLs) > 0 {
		return fmt.Errorf("it mixes resources and nonResourceURLs, which have to be two rules: %s", ruleText(rule))
	}
	return nil
}

// grants says whether the granted rules allow everything that the wanted rule asks for. Like the cluster, it asks for
// each combination of verb, group, resource and name by itself; rules that allow all of them at once are tried first.
func grants(granted []rbacv1.PolicyRule, wanted rbacv1.PolicyRule) bool {
	if slices.ContainsFunc(granted, func(g rbacv1.PolicyRule) bool { return covers(g, wanted) }) {
		return true
	}
	for single := range singles(wanted) {
		if !slices.ContainsFunc(granted, func(g rbacv1.PolicyRule) bool { return covers(g, single) }) {
			return false
		}
	}
	return true
}

// singles yields the combinations of a rule, one verb each.
func singles(rule rbacv1.PolicyRule) func(yield func(rbacv1.PolicyRule) bool) {
	names := [][]string{nil}
	if len(rule.ResourceNames) > 0 {
		names = slices.Collect(slices.Chunk(rule.ResourceNames, 1))
	}
	return func(yield func(rbacv1.PolicyRule) bool) {
		for _, verb := range slices.Collect(slices.Chunk(rule.Verbs, 1)) {
			for _, url := range slices.Collect(slices.Chunk(rule.NonResourceURLs, 1)) {
				if !yield(rbacv1.PolicyRule{Verbs: verb, NonResourceURLs: url}) {
					return
				}
			}
			for _, group := range slices.Collect(slices.Chunk(rule.APIGroups, 1)) {
				for _, resource := range slices.Collect(slices.Chunk(rule.Resources, 1)) {
					for _, name := range names {
						if !yield(rbacv1.PolicyRule{Verbs: verb, APIGroups: group, Resources: resource, ResourceNames: name}) {
							return
						}
					}
				}
			}
		}
	}
}

// covers says whether one granted rule allows everything that the wanted rule asks for.
func covers(granted, wanted rbacv1.PolicyRule) bool {
	return containsAll(granted.Verbs, wanted.Verbs, matchesVerb) &&
		containsAll(granted.APIGroups, wanted.APIGroups, matchesGroup) &&
		containsAll(granted.Resources, wanted.Resources, matchesResource) &&
		containsAll(granted.NonResourceURLs, wanted.NonResourceURLs, matchesURL) &&
		coversNames(granted.ResourceNames, wanted.ResourceNames)
}

// coversNames knows that no names at all stand for every name.
func coversNames(granted, wanted []string) bool {
	if len(granted) == 0 {
		return true
	}
	return len(wanted) > 0 && containsAll(granted, wanted, func(g, w string) bool { return g == w })
}

// containsAll says whether each of the wanted items is matched by one of the granted ones.
func containsAll(granted, wanted []string, matches func(granted, wanted string) bool) bool {
	for _, w := range wanted {
		if !slices.ContainsFunc(granted, func(g string) bool { return matches(g, w) }) {
			return false
		}
	}
	return true
}

func matchesVerb(granted, wanted string) bool { return granted == rbacv1.VerbAll || granted == wanted }

func matchesGroup(granted, wanted string) bool {
	return granted == rbacv1.APIGroupAll || granted == wanted
}

// matchesResource knows that */scale stands for the subresource scale of every resource.
func matchesResource(granted, wanted string) bool {
	if granted == rbacv1.ResourceAll || granted == wanted {
		return true
	}
	_, subresource, ok := strings.Cut(wanted, "/")
	return ok && granted == "*/"+subresource
}

// matchesURL knows that a trailing star stands for every path that begins like this.
func matchesURL(granted, wanted string) bool {
	if granted == rbacv1.NonResourceAll || granted == wanted {
		return true
	}
	prefix, ok := strings.CutSuffix(granted, "*")
	return ok && strings.HasPrefix(wanted, prefix)
}
