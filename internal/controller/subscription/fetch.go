package subscription

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fetchFailure is a bundle that could not be had.
type fetchFailure struct {
	name    string
	err     error
	retryAt time.Time
}

// ask starts to fetch the bundles of all choices; they arrive in the background.
func (c *Controller) ask(ctx context.Context, s *state, g *group) []bundleio.Request {
	requests := make([]bundleio.Request, len(g.Choices))
	for i, choice := range g.Choices {
		request, err := c.bundleRequest(ctx, s, choice)
		if err != nil {
			g.failures = append(g.failures, fetchFailure{name: choice.Bundle.Name, err: err, retryAt: c.Clock.Now().Add(retrySecrets)})
			continue
		}
		requests[i] = request
		c.Unpacker.Get(ctx, request, 0)
	}
	return requests
}

// fetch returns the bundles that were asked for as far as they are at hand, and waits for the others until the deadline.
func (c *Controller) fetch(ctx context.Context, g *group, requests []bundleio.Request, deadline time.Time) []bundleio.State {
	bundles := make([]bundleio.State, len(requests))
	for i := range requests {
		if requests[i].Name == "" {
			continue
		}
		bundles[i] = c.Unpacker.Get(ctx, requests[i], max(deadline.Sub(c.Clock.Now()), 0))
		switch {
		case bundles[i].Err != nil:
			g.failures = append(g.failures, fetchFailure{name: requests[i].Name, err: bundles[i].Err, retryAt: bundles[i].RetryAt})
		case !bundles[i].Done():
			g.fetching = append(g.fetching, requests[i].Name+prefixed(", slowly: ", bundles[i].Slow))
		}
	}
	return bundles
}

// retrySecrets is when pull secrets that could not be read are read again.
const retrySecrets = 10 * time.Second

func (c *Controller) bundleRequest(ctx context.Context, s *state, choice resolution.Choice) (bundleio.Request, error) {
	origin, err := originOf(s, choice)
	if err != nil {
		return bundleio.Request{}, fmt.Errorf("fetch bundle %s: %w", choice.Bundle.Name, err)
	}
	policy, err := bundleio.PolicyOf(s.Groups[0].Annotations)
	if err != nil {
		return bundleio.Request{}, fmt.Errorf("fetch bundle %s: %w", choice.Bundle.Name, err)
	}
	return origin.Bundle(ctx, c.live, choice.Bundle, policy)
}

// originOf is the catalog that a choice is from.
func originOf(s *state, choice resolution.Choice) (bundleio.Origin, error) {
	from := s.Source(choice.Catalog)
	if from == nil || from.Served.Index == nil {
		return bundleio.Origin{}, fmt.Errorf("catalog %s is gone", choice.Catalog)
	}
	return bundleio.Origin{Namespace: from.Object.Namespace, Secrets: from.Object.Spec.Secrets, Index: from.Served.Index, Image: from.Served.Image}, nil
}

// content is what a plan consists of: a step for each object of each chosen bundle, and the bundles that they came from, so that
// the objects can be read again when the content store has lost them.
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
