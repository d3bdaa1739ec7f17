package clusterserviceversion

import (
	"fmt"
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
