package operator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience is how long a plan is waited for in all, whatever becomes of it.
const patience = 30 * time.Second

// unrest is how long the parts of an Operator are to be left alone, because they or others are being installed: labels that are set meanwhile would
// conflict with the writes of the installation, which then have to be repeated.
func (c *Controller) unrest(ctx context.Context, name string) (time.Duration, error) {
	subscriptions, err := c.subscriptions(ctx, name)
	if err != nil {
		return 0, err
	}
	var wait time.Duration
	for i := range subscriptions {
		s := &subscriptions[i]
		if s.Status.InstalledCSV == "" {
			wait = max(wait, reconcile.QuietPeriod-c.clock.Since(s.CreationTimestamp.Time))
		}
		for _, name := range []string{s.Status.InstalledCSV, s.Status.CurrentCSV} {
			if name == "" {
				continue
			}
			csv := &v1alpha1.ClusterServiceVersion{}
			err := c.client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, csv)
			if err == nil {
				var changing time.Duration
				changing, err = reconcile.UntilQuiet(csv, c.clock.Now(), reconcile.ListOperators(ctx, c.client))
				wait = max(wait, changing)
			}
			if client.IgnoreNotFound(err) != nil {
				return 0, err
			}
		}
		planned, err := c.planned(ctx, s)
		if err != nil {
			return 0, err
		}
		wait = max(wait, planned)
	}
	return wait, nil
}

// planned is how long the plan of a Subscription is waited for.
func (c *Controller) planned(ctx context.Context, s *v1alpha1.Subscription) (time.Duration, error) {
	ref := s.Status.InstallPlanRef
	if ref == nil || ref.Name == "" {
		return 0, nil
	}
	plan := &v1alpha1.InstallPlan{}
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: ref.Name}, plan); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	switch plan.Status.Phase {
	case v1alpha1.InstallPlanPhaseComplete, v1alpha1.InstallPlanPhaseFailed, v1alpha1.InstallPlanPhaseRequiresApproval:
		return 0, nil
	}
	began := plan.CreationTimestamp.Time
	if at := plan.Status.StartTime; at != nil && at.After(began) {
		began = at.Time
	}
	if c.clock.Since(began) > patience {
		return 0, nil
	}
	return time.Second, nil
}

// subscriptions are those of the package of an Operator.
func (c *Controller) subscriptions(ctx context.Context, name string) ([]v1alpha1.Subscription, error) {
	var list v1alpha1.SubscriptionList
	if err := c.client.List(ctx, &list, client.MatchingFields{indexByPackage: v1alpha1.ComponentName(name)}); err != nil {
		return nil, fmt.Errorf("list the Subscriptions of Operator %s: %w", name, err)
	}
	return slices.DeleteFunc(list.Items, func(s v1alpha1.Subscription) bool { return packageName(&s) != name }), nil
}
