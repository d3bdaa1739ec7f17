package subscription

import (
	"context"
	"errors"
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/resolution"
)

// act makes sure that there is an InstallPlan for what each group chose.
func (c *Controller) act(ctx context.Context, s *state, d *decision) error {
	deadline := c.Clock.Now().Add(patience)
	var failed error
	unwritten := func(g *group, err error) { // the other groups do not wait for it
		if err != nil {
			g.unwritten = tidy(err.Error())
			failed = errors.Join(failed, err)
		}
	}
	asked := map[*group][]bundleio.Request{} // for all groups before any is waited for
	for i := range d.groups {
		g := &d.groups[i]
		if g.Err != nil {
			continue
		}
		if len(g.Choices) == 0 {
			unwritten(g, c.withdraw(ctx, s, g))
			continue
		}
		if g.installPlan = s.covering(g, c.Clock.Now()); g.installPlan != nil {
			unwritten(g, c.complete(ctx, s, g, deadline))
			continue
		}
		asked[g] = c.ask(ctx, s, g)
	}
	ready := map[*group][]bundleio.State{}
	for g, requests := range asked {
		bundles := c.fetch(ctx, g, requests, deadline)
		if len(g.fetching) == 0 && len(g.failures) == 0 {
			ready[g] = bundles
		}
	}
	if len(ready) == 0 {
		return failed
	}
	if err := c.confirm(ctx, s, d, ready); err != nil {
		return errors.Join(failed, err)
	}
	for i := range d.groups {
		g := &d.groups[i]
		if bundles, ok := ready[g]; ok {
			unwritten(g, c.write(ctx, s, g, bundles))
		}
	}
	return failed
}

// write makes the plan of a group, unless an earlier one is still being carried out.
func (c *Controller) write(ctx context.Context, s *state, g *group, bundles []bundleio.State) error {
	busy, err := c.supersede(ctx, s, g)
	if err != nil {
		return err
	}
	if busy != "" {
		g.waitsFor = busy
		return nil
	}
	return c.create(ctx, s, g, bundles)
}

// covering returns the plan that already carries out what the group chose: one that is approved and under way, one that waits for
// the approval of exactly this, or one that failed on the very same content a short while ago and would fail again.
func (s *state) covering(g *group, now time.Time) *v1alpha1.InstallPlan {
	for i := range s.Plans {
		p := &s.Plans[i]
		if !includes(p.Spec.ClusterServiceVersionNames, names(g.Choices)) {
			continue
		}
		same := isFor(p, g)
		switch {
		case p.Status.Phase == v1alpha1.InstallPlanPhaseComplete:
		case underWay(p):
			return p
		case p.Status.Phase == v1alpha1.InstallPlanPhaseFailed && same:
			if isFinal(p) {
				if g.retryAt = s.judgements.next(p, g); g.retryAt.IsZero() || now.Before(g.retryAt) {
					return p
				}
				return nil
			}
			if g.retryAt = failedAt(p).Add(standing(p)); now.Before(g.retryAt) {
				return p
			}
			return nil // the newest plan counts: whatever failed before it has had its turn
		case p.Status.Phase != v1alpha1.InstallPlanPhaseFailed && same && p.Spec.Approval == s.approval(g.Subscriptions):
			return p
		}
	}
	return nil
}

func failedAt(p *v1alpha1.InstallPlan) time.Time {
	if installed := p.Status.GetCondition(v1alpha1.InstallPlanInstalled); installed.LastTransitionTime != nil {
		return installed.LastTransitionTime.Time
	}
	return p.CreationTimestamp.Time
}

// underWay reports whether a plan is being carried out, or will be at once: it has its steps, and is approved. One that waits for an
// OperatorGroup that fits, or that the signature policy refuses, has not begun, and reports that it does before it writes anything.
func underWay(p *v1alpha1.InstallPlan) bool {
	switch p.Status.Phase {
	case v1alpha1.InstallPlanPhaseInstalling:
		return p.Status.StartTime != nil || p.Status.GetCondition(v1alpha1.InstallPlanInstalled).Reason != v1alpha1.InstallPlanReasonInstallCheckFailed
	case v1alpha1.InstallPlanPhaseRequiresApproval:
		return p.Spec.Approved
	}
	return false
}

func names(choices []resolution.Choice) []string {
	all := make([]string, len(choices))
	for i, c := range choices {
		all[i] = c.Bundle.Name
	}
	return all
}

func includes(all, some []string) bool {
	return !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(all, name) })
}
