package operator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// pause is how long an operator that is being installed has to be quiet before it is looked at. Labels that are set meanwhile would
	// meet the writes of those who install it, which then have to do their work again.
	pause = 10 * time.Second
	// patience is how long a plan is waited for in all, whatever becomes of it.
	patience = 30 * time.Second
)

// unrest is how long an Operator is to be left alone, because its parts are being installed; 0 when they are not.
func (c *Controller) unrest(ctx context.Context, name string) (time.Duration, error) {
	subscriptions, err := c.subscriptions(ctx, name)
	if err != nil {
		return 0, err
	}
	var wait time.Duration
	for i := range subscriptions {
		s := &subscriptions[i]
		if s.Status.InstalledCSV == "" {
			wait = max(wait, pause-c.clock.Since(s.CreationTimestamp.Time))
		}
		for _, csv := range []string{s.Status.InstalledCSV, s.Status.CurrentCSV} {
			changing, err := c.changing(ctx, client.ObjectKey{Namespace: s.Namespace, Name: csv})
			if err != nil {
				return 0, err
			}
			wait = max(wait, changing)
		}
		planned, err := c.planned(ctx, s)
		if err != nil {
			return 0, err
		}
		wait = max(wait, planned)
	}
	return wait, nil
}

// changing is how long a ClusterServiceVersion is waited for.
func (c *Controller) changing(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
	if key.Name == "" {
		return 0, nil
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	if err := c.client.Get(ctx, key, csv); err != nil || csv.Status.Settled() {
		return 0, client.IgnoreNotFound(err)
	}
	changed := csv.CreationTimestamp.Time
	if at := csv.Status.LastUpdateTime; at != nil && at.After(changed) {
		changed = at.Time
	}
	return pause - c.clock.Since(changed), nil
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
