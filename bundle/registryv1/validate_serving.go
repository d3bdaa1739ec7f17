package registryv1

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// checkServedBy checks that a Deployment is there.
func checkServedBy(p *problems, b *bundle.Bundle, field, deployment string) {
	deployments := b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs
	if !slices.ContainsFunc(deployments, func(d v1alpha1.StrategyDeploymentSpec) bool { return d.Name == deployment }) {
		p.csv(b, field, "%q is not a Deployment of the install strategy; name the one that serves it", deployment)
	}
}

func apiServicesServed(p *problems, b *bundle.Bundle) {
	for i, d := range b.CSV.Spec.APIServiceDefinitions.Owned {
		checkServedBy(p, b, apiServiceField(i)+".deploymentName", d.DeploymentName)
	}
}

// servable: Deployments that serve need a selector that a Service can have, and a name that one can be made from.
func servable(p *problems, b *bundle.Bundle) {
	serving := bundle.ServingDeployments(b.CSV)
	for i, d := range b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		if !slices.Contains(serving, d.Name) {
			continue
		}
		if d.Spec.Selector == nil || len(d.Spec.Selector.MatchLabels) == 0 {
			p.csv(b, deploymentField(i)+".spec.selector", "Deployment %s serves webhooks or APIs, and its selector has no matchLabels, which the Service in front of it needs; add them", d.Name)
		}
		name := bundle.ServingServiceName(d.Name)
		for _, message := range validation.IsDNS1035Label(name) {
			p.csv(b, deploymentField(i)+".name", "Deployment %s serves webhooks or APIs, and the Service in front of it cannot be named %s: %s", d.Name, name, message)
		}
	}
}
