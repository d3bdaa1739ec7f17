package bundle

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// CheckOperatorName refuses a name of a ClusterServiceVersion that cannot be the value of labels: what is made for an operator carries it as one.
func CheckOperatorName(name string) error {
	if len(name) > validation.LabelValueMaxLength {
		return fmt.Errorf("the name of the ClusterServiceVersion has %d characters: as it is the value of labels, it may have %d", len(name), validation.LabelValueMaxLength)
	}
	return nil
}

// CheckInstallable refuses a ClusterServiceVersion that no cluster can install, whatever it has: it fails with this error once it is there. Validate says
// more of a bundle, and of each field.
func CheckInstallable(csv *v1alpha1.ClusterServiceVersion) error {
	if err := CheckOperatorName(csv.Name); err != nil {
		return err
	}
	strategy := csv.Spec.InstallStrategy
	if strategy.StrategyName != v1alpha1.InstallStrategyNameDeployment {
		return fmt.Errorf("spec.install.strategy %q is not known: the only one is %q", strategy.StrategyName, v1alpha1.InstallStrategyNameDeployment)
	}
	for _, crd := range csv.AllCRDs() {
		if _, _, err := crd.PluralAndGroup(); err != nil {
			return err
		}
	}
	if err := CheckOwned(csv); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, d := range strategy.StrategySpec.DeploymentSpecs {
		if d.Name == "" || names[d.Name] {
			return fmt.Errorf("spec.install.spec.deployments names %q more than once, or not at all", d.Name)
		}
		names[d.Name] = true
	}
	if _, err := Services(csv); err != nil {
		return err
	}
	return checkRules(strategy.StrategySpec)
}

// checkRules refuses rules of permissions that the API server never takes.
func checkRules(strategy v1alpha1.StrategyDetailsDeployment) error {
	for _, permission := range slices.Concat(strategy.Permissions, strategy.ClusterPermissions) {
		for _, rule := range permission.Rules {
			problem := ""
			switch {
			case len(rule.Verbs) == 0:
				problem = "it has no verbs"
			case len(rule.Resources) > 0 && len(rule.NonResourceURLs) > 0:
				problem = "it mixes resources and nonResourceURLs, which have to be two rules"
			default:
				continue
			}
			text, err := json.Marshal(rule)
			if err != nil {
				return fmt.Errorf("a rule for service account %q: %s: %w", permission.ServiceAccountName, problem, err)
			}
			return fmt.Errorf("a rule for service account %q: %s: %s", permission.ServiceAccountName, problem, text)
		}
	}
	return nil
}
