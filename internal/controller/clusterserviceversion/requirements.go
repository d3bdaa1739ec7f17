package clusterserviceversion

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// maxUnmet is how many unmet requirements the message names.
const maxUnmet = 5

// requirements is the outcome of all requirement checks.
type requirements struct {
	rows []v1alpha1.RequirementStatus
}

// checks are the kinds of requirement, in the order of their rows.
var checks = []func(*facts, context.Context) ([]v1alpha1.RequirementStatus, error){
	(*facts).kubeVersionRows,
	(*facts).crdRows,
	(*facts).requiredAPIServiceRows,
	(*facts).ownedAPIServiceRows,
	(*facts).nativeAPIRows,
	(*facts).accountRows,
}

// check makes the requirement checks, once a pass.
func (f *facts) check(ctx context.Context) (*requirements, error) {
	if f.requirements != nil {
		return f.requirements, nil
	}
	out := &requirements{}
	for _, check := range checks {
		rows, err := check(f, ctx)
		if err != nil {
			return nil, err
		}
		out.rows = append(out.rows, rows...)
	}
	f.requirements = out
	return out, nil
}

// requirementsInvalid looks for a strategy that makes no sense, so that there is nothing to check.
func (f *facts) requirementsInvalid(context.Context) (finding, error) {
	if err := checkStrategy(f.csv); err != nil {
		return seen(err.Error()), nil
	}
	return seenNot, nil
}

func (f *facts) requirementsNotMet(ctx context.Context) (finding, error) {
	checked, err := f.check(ctx)
	if err != nil {
		return seenNot, err
	}
	var unmet []string
	for i := range checked.rows {
		if row := &checked.rows[i]; !met(row.Status) {
			unmet = append(unmet, describe(row))
		}
	}
	switch {
	case len(unmet) == 0:
		return seenNot, nil
	case len(unmet) > maxUnmet:
		rest := len(unmet) - maxUnmet
		unmet = append(unmet[:maxUnmet], fmt.Sprintf("and %d more, see status.requirementStatus", rest))
	}
	return seen(strings.Join(unmet, "; ")), nil
}

func met(s v1alpha1.StatusReason) bool {
	return s == v1alpha1.RequirementStatusReasonPresent || s == v1alpha1.RequirementStatusReasonDeploymentFound
}

// describe names an unmet requirement and what is wrong with it.
func describe(row *v1alpha1.RequirementStatus) string {
	text := fmt.Sprintf("%s %s: %s", row.Kind, row.Name, row.Status)
	if row.Message != "" {
		text += ", " + row.Message
	}
	for _, dependent := range row.Dependents {
		if dependent.Status != v1alpha1.DependentStatusReasonSatisfied {
			return text + ": " + dependent.Message
		}
	}
	return text
}

// checkStrategy finds what no cluster can satisfy.
func checkStrategy(csv *v1alpha1.ClusterServiceVersion) error {
	if !labelled(csv) {
		return fmt.Errorf("the name of the ClusterServiceVersion has %d characters: as it is the value of labels, it may have %d", len(csv.Name), validation.LabelValueMaxLength)
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
	if err := bundle.CheckOwned(csv); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, d := range strategy.StrategySpec.DeploymentSpecs {
		if d.Name == "" || names[d.Name] {
			return fmt.Errorf("spec.install.spec.deployments names %q more than once, or not at all", d.Name)
		}
		names[d.Name] = true
	}
	if _, err := bundle.Services(csv); err != nil {
		return err
	}
	return checkRules(strategy.StrategySpec)
}
