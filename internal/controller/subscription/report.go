package subscription

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/resolve"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// report writes the status of every Subscription about which there is something new to say, and returns when bundles that could
// not be fetched are due to be tried again, or words that were put off to be written. Events and metrics follow what was written.
func (c *Controller) report(ctx context.Context, s *state, d *decision) (time.Duration, error) {
	now := c.Clock.Now()
	var failures []error
	told := map[string]bool{}
	counted := make([]metrics.Subscription, 0, len(s.Subscriptions))
	retry := d.retry(now)
	for i := range s.Subscriptions {
		before := &s.Subscriptions[i]
		after := before.DeepCopy()
		if !d.outdated[before.Name] {
			after.Status = d.view(s, before).status(now)
		}
		if wait := tooSoon(&before.Status, &after.Status, now); wait > 0 {
			after, retry = before, reconcile.Sooner(retry, wait)
		}
		err := c.publish(ctx, before, after)
		switch {
		case apierrors.IsNotFound(err): // it was deleted meanwhile: nobody is to be told of it
			continue
		case err != nil:
			failures = append(failures, fmt.Errorf("write the status of Subscription %s/%s: %w", s.Name, before.Name, err))
			after = before
		}
		c.tell(s, before, after, told)
		counted = append(counted, countedAs(after))
	}
	c.Metrics.Synced(s.Name, counted)
	return retry, errors.Join(failures...)
}

// publish writes a status that says something new.
func (c *Controller) publish(ctx context.Context, before, after *v1alpha1.Subscription) error {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	return c.client.Status().Patch(ctx, after, client.MergeFrom(before), fieldOwner)
}

// countedAs is what is counted of a Subscription.
func countedAs(sub *v1alpha1.Subscription) metrics.Subscription {
	return metrics.Subscription{Name: sub.Name, Installed: sub.Status.InstalledCSV, Channel: sub.Spec.Channel, Package: sub.Spec.Package,
		Approval: string(sub.InstallPlanApproval())}
}

// retry is the time until the first failed bundle or plan is tried again; zero when none failed.
func (d *decision) retry(now time.Time) time.Duration {
	var soonest time.Duration
	note := func(at time.Time) {
		soonest = reconcile.Sooner(soonest, max(at.Sub(now), time.Second))
	}
	for _, g := range d.groups {
		for _, f := range g.failures {
			note(f.retryAt)
		}
		if g.installPlan != nil && g.installPlan.Status.Phase == v1alpha1.InstallPlanPhaseFailed && !g.retryAt.IsZero() {
			note(g.retryAt)
		}
	}
	return soonest
}

// resolutionReason tells a problem without solution from one that could not be solved.
func resolutionReason(err error) string {
	var none *resolve.Unsatisfiable
	if errors.As(err, &none) {
		return v1alpha1.SubscriptionReasonConstraintsNotSatisfiable
	}
	return v1alpha1.SubscriptionReasonErrorPreventedResolution
}
