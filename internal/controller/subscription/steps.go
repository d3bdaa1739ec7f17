package subscription

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// content is what a plan consists of: a step for each object of each chosen bundle, and the bundles that they came from, so that
// the objects can be had again when the content store has lost them.
func (c *Controller) content(ctx context.Context, s *state, g *group, p *v1alpha1.InstallPlan, bundles []bundleio.State) (v1alpha1.InstallPlanStatus, error) {
	status := v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, CatalogSources: []string{}}
	if p.Spec.Approval == v1alpha1.ApprovalManual && !p.Spec.Approved {
		status.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	}
	writer := resolution.PlanWriter{Manifests: c.Manifests, Namespace: s.Name}
	for i, choice := range g.Choices {
		steps, err := writer.Steps(ctx, choice, bundles[i].Bundle)
		if err != nil {
			return status, err
		}
		if len(choice.Subscriptions) == 0 {
			step, err := writer.Subscription(p.Name, choice)
			if err != nil {
				return status, err
			}
			steps = append(steps, step)
		}
		status.Plan = append(status.Plan, steps...)
		origin, err := originOf(s, choice)
		if err != nil {
			return status, fmt.Errorf("record where bundle %s comes from: %w", choice.Bundle.Name, err)
		}
		lookup := resolution.LookupOf(choice, bundles[i].Pinned, origin.CatalogImage())
		if signature := resolution.SignatureCondition(image.Verdict{Verification: bundles[i].Verification}); signature != nil {
			lookup.SetCondition(*signature, metav1.NewTime(c.Clock.Now()))
		}
		status.BundleLookups = append(status.BundleLookups, lookup)
		if name := choice.Catalog.Name; !slices.Contains(status.CatalogSources, name) {
			status.CatalogSources = append(status.CatalogSources, name)
		}
	}
	resolution.OrderSteps(status.Plan)
	return status, writer.Fit(ctx, &status)
}
