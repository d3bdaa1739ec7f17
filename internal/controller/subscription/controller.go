package subscription

import (
	"context"
	"errors"
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"

	"github.com/blang/semver/v4"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the field manager of all that the controller writes.
const fieldOwner = client.FieldOwner("fairlead-subscription")

const (
	// workers is how many namespaces are worked on at once.
	workers = 4
	// patience is how long a reconcile waits for bundles that may be at hand; slower ones arrive as an event.
	patience = 500 * time.Millisecond
)

// Options are what the controller works with.
type Options struct {
	Catalogs *catalogstore.Set
	Clock    clock.Clock
	// Manifests keeps the manifests of steps.
	Manifests bundleio.Manifests
	// Unpacker fetches bundles. The one who makes it calls Notify when a bundle has arrived.
	Unpacker *bundleio.Unpacker
	// GlobalNamespace holds the catalogs that every namespace can see.
	GlobalNamespace string
	// Namespaces are those that the caches are limited to, besides the global one; none is all. OperatorGroups of others are seen, but
	// not worked on.
	Namespaces []string
	// Metrics counts Subscriptions; Setup makes and registers them when there are none.
	Metrics *metrics.Subscriptions
	// Notify is filled by Setup: calling it requeues every namespace that waits for a bundle.
	Notify *Notifier
}

// Controller reconciles the Subscriptions of a namespace.
type Controller struct {
	Options
	client client.Client
	live   client.Reader // uncached, to be sure before a plan is written
	events record.EventRecorder
	// kubernetes tells the version of the cluster; zero when it is not known.
	kubernetes func(context.Context) semver.Version
	judgements *judgements
	written    *reconcile.StatusMemory[v1alpha1.SubscriptionStatus]
}

// Reconcile brings one namespace up to date.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	seen, err := c.observe(ctx, c.client, request.Namespace)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(seen.Subscriptions) == 0 {
		c.Metrics.Synced(request.Namespace, nil)
		return ctrl.Result{}, nil
	}
	began := c.Clock.Now()
	found, err := c.decide(ctx, seen)
	if err != nil {
		return ctrl.Result{}, err
	}
	// Record how long a resolution took. That the namespace is reconciled again before a plan is written is no second one, and where
	// there is nothing to resolve, as without an OperatorGroup, there is none.
	took := c.Clock.Since(began)
	if found.broken == "" {
		c.Metrics.Resolved(took, !slices.ContainsFunc(found.groups, func(g group) bool { return g.Err != nil }))
	}
	err = errors.Join(c.act(ctx, seen, found), c.collect(ctx, seen))
	retry, unreported := c.report(ctx, seen, found)
	return ctrl.Result{RequeueAfter: retry}, errors.Join(err, unreported)
}

// approval is Manual when any Subscription of the group asks for it: a group is approved as a whole.
func (s *state) approval(group []string) v1alpha1.Approval {
	for _, name := range group {
		if s.Subscription(name).InstallPlanApproval() == v1alpha1.ApprovalManual {
			return v1alpha1.ApprovalManual
		}
	}
	return v1alpha1.ApprovalAutomatic
}
