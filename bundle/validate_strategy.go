package bundle

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

func checkStrategy(r recorder, csv *v1alpha1.ClusterServiceVersion) {
	install := csv.Spec.InstallStrategy
	if install.StrategyName != v1alpha1.InstallStrategyNameDeployment {
		r.err(RuleStrategy, "spec.install.strategy", "%q is not known; the only strategy is %q", install.StrategyName, v1alpha1.InstallStrategyNameDeployment)
		return
	}
	if len(install.StrategySpec.DeploymentSpecs) == 0 {
		r.warn(RuleNoDeployments, "spec.install.spec.deployments", "there is no Deployment, so nothing runs")
	}
	seen := map[string]bool{}
	for i, d := range install.StrategySpec.DeploymentSpecs {
		field := fmt.Sprintf("spec.install.spec.deployments[%d]", i)
		for _, message := range validation.IsDNS1123Subdomain(d.Name) {
			r.err(RuleDeployment, field+".name", "%s", message)
		}
		if seen[d.Name] {
			r.err(RuleDeployment, field+".name", "%s is the name of an earlier Deployment; give each its own", d.Name)
		}
		seen[d.Name] = true
		if d.Spec.Selector == nil {
			r.err(RuleDeployment, field+".spec.selector", "is missing; select the pods of the Deployment")
		}
		if len(d.Spec.Template.Spec.Containers) == 0 {
			r.err(RuleDeployment, field+".spec.template.spec.containers", "is empty; a pod needs a container")
		}
	}
}

func checkPermission(r recorder, field string, permission v1alpha1.StrategyDeploymentPermissions, cluster bool) {
	if permission.ServiceAccountName == "" {
		r.warn(RuleAccount, field+".serviceAccountName", "is missing; the rules go to the account %q", DefaultServiceAccount)
	} else {
		for _, message := range validation.IsDNS1123Subdomain(permission.ServiceAccountName) {
			r.err(RuleAccount, field+".serviceAccountName", "%s", message)
		}
	}
	for i, rule := range permission.Rules {
		message := "" // why the API server would refuse the rule
		switch {
		case len(rule.Verbs) == 0:
			message = "verbs are missing"
		case len(rule.NonResourceURLs) > 0 && !cluster:
			message = "nonResourceURLs are possible in clusterPermissions only"
		case len(rule.NonResourceURLs) > 0 && len(rule.APIGroups)+len(rule.Resources)+len(rule.ResourceNames) > 0:
			message = "a rule is either for resources or for nonResourceURLs; split it"
		case len(rule.NonResourceURLs) > 0: // needs no more
		case len(rule.APIGroups) == 0:
			message = `apiGroups are missing; use "" for the core group`
		case len(rule.Resources) == 0:
			message = "resources are missing"
		}
		if message != "" {
			r.err(RulePermission, fmt.Sprintf("%s.rules[%d]", field, i), "%s", message)
		}
	}
}

// checkServedBy checks that a Deployment is there and that a Service can stand in front of it.
func checkServedBy(r recorder, csv *v1alpha1.ClusterServiceVersion, field, deployment string) {
	deployments := csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs
	index := slices.IndexFunc(deployments, func(d v1alpha1.StrategyDeploymentSpec) bool { return d.Name == deployment })
	if index < 0 {
		r.err(RuleServedBy, field, "%q is not a Deployment of the install strategy", deployment)
		return
	}
	if selector := deployments[index].Spec.Selector; selector == nil || len(selector.MatchLabels) == 0 {
		r.err(RuleServedBy, field, "the selector of Deployment %s has no matchLabels, which its Service needs", deployment)
	}
	for _, message := range validation.IsDNS1035Label(ServingServiceName(deployment)) {
		r.err(RuleServedBy, field, "the Service of Deployment %s cannot be named %s: %s", deployment, ServingServiceName(deployment), message)
	}
}
