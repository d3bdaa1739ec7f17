package installplan

import (
	"context"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/claims"
	"fairlead.dev/fairlead/internal/schedule"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the field manager of all that the controller writes.
const fieldOwner = claims.FieldManager

// DefaultRetryTimeout is how long a plan is tried again after errors.
const DefaultRetryTimeout = time.Minute

// Accounts gives clients that act as a service account.
type Accounts interface {
	Client(ctx context.Context, namespace, name string) (client.Client, error)
}

// Options are what the controller works with.
type Options struct {
	// Manifests resolves what steps hold for their manifests.
	Manifests Manifests
	// Signatures verifies the bundles of plans before they are carried out; nil is for a process without signature policies.
	Signatures Signatures
	// Catalogs are where the steps of plans that people wrote come from, and Unpacker fetches their bundles.
	Catalogs *catalogstore.Set
	Unpacker *bundleio.Unpacker
	// Notify is filled by Setup: the one who makes the Unpacker calls it when a bundle has arrived.
	Notify *Notifier
	// Bundles gives the objects of a bundle again when Manifests has lost them; nil is no such way.
	Bundles Bundles
	// Accounts gives the clients of plans that a service account limits.
	Accounts Accounts
	// Namespaces are those that the caches are limited to; none is all.
	Namespaces []string
	// OperatorNamespace holds the pull secrets that steps of kind Secret copy, and the catalogs that every namespace can see.
	OperatorNamespace string
	// RetryTimeout is how long a plan is tried again after errors; 0 is DefaultRetryTimeout.
	RetryTimeout time.Duration
	// UpgradeGate is asked about upgrades that annotations allow; nil is no gate.
	UpgradeGate UpgradeGate
	// Metrics counts plans; Setup makes and registers them when there are none.
	Metrics *metrics.InstallPlans
	Clock   clock.PassiveClock
}

// Controller reconciles InstallPlans.
type Controller struct {
	Options
	client client.Client
	live   client.Reader // uncached: what is decided on must not be out of date
	engine *rollout.Engine
	events record.EventRecorder
	memory memory
	// written is what was written last to each plan, until a cache shows it: a pass before that would do everything once more.
	written reconcile.StatusMemory[planStatus]
}

// Reconcile takes one plan as far as it can go.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return reconcile.Typed[*v1alpha1.InstallPlan]{Client: c.client, Owner: client.FieldOwner(fieldOwner), Step: c.step,
		Deleting: func(_ context.Context, plan *v1alpha1.InstallPlan) (ctrl.Result, error) {
			c.Metrics.Seen(plan.Namespace, plan.Name, time.Time{})
			return ctrl.Result{}, nil
		},
		Gone: func(_ context.Context, key types.NamespacedName) (ctrl.Result, error) {
			c.memory.forget(key)
			c.written.Forget(key)
			c.Metrics.Gone(key.Namespace, key.Name)
			return ctrl.Result{}, nil
		}}.Reconcile(ctx, request)
}

// waitsSince is when a plan was made that waits for approval; zero for another one.
func waitsSince(plan *v1alpha1.InstallPlan) time.Time {
	if plan.Status.Phase != v1alpha1.InstallPlanPhaseRequiresApproval || plan.Spec.Approved {
		return time.Time{}
	}
	return plan.CreationTimestamp.Time
}

// step makes a pass over a plan.
func (c *Controller) step(ctx context.Context, plan *v1alpha1.InstallPlan) (ctrl.Result, error) {
	key := client.ObjectKeyFromObject(plan)
	c.Metrics.Seen(plan.Namespace, plan.Name, waitsSince(plan))
	if c.written.Stale(plan) { // the event of the last write follows
		return ctrl.Result{}, nil
	}
	if pause := c.memory.rests(plan, c.Clock.Now()); pause > 0 {
		return ctrl.Result{RequeueAfter: pause}, nil
	}
	switch {
	case plan.IsHandWritten() && unfinished(plan) && len(plan.Spec.ClusterServiceVersionNames) == 0 && len(plan.Status.Plan) == 0:
		return c.awaitContent(plan), nil
	case isUnresolved(plan):
		return resolver{c}.resolve(ctx, plan)
	case len(plan.Status.Plan) == 0:
		return c.awaitSteps(ctx, plan)
	}
	seen, err := c.observe(ctx, plan)
	if err != nil {
		return ctrl.Result{}, err
	}
	if plan.Status.Phase == v1alpha1.InstallPlanPhaseFailed && !seen.nudged {
		if !isJudged(plan) { // a manager left it that made no verdicts
			return ctrl.Result{}, c.report(ctx, plan, plan.Status, outcome{}) // the event of the write follows
		}
		return retrier{c}.lookAtObstacles(ctx, plan)
	}
	next, execute := decide(plan, seen, c.Clock.Now())
	if next.Phase == v1alpha1.InstallPlanPhaseRequiresApproval && seen.group != nil {
		c.adviseOnApproval(ctx, plan, seen.group, &next)
	}
	var done outcome
	var wait *schedule.Held
	x := c.newExecution(plan)
	if execute && !x.holds(ctx, seen.group) {
		if wait, err = (upgrades{c, x}).held(ctx); err != nil {
			return ctrl.Result{}, err
		}
	}
	switch {
	case !execute:
	case x.held != "":
		next = held(&plan.Status, next, x.held, c.Clock.Now())
	case wait != nil:
		next, done = upgrades{c, x}.await(ctx, seen, next, wait)
	case isHeld(&plan.Status): // that it begins is written down first: until then another plan may take its place
		if done = x.execute(ctx, c, seen, true); done.unverified == accepted {
			next.Message, done = waits+"nothing prevents it any more, and the steps come next", outcome{}
		} else {
			next = unverifiedStatus(&plan.Status, conclude(next, done, c.Clock.Now(), c.RetryTimeout), done, c.Clock.Now())
		}
	default:
		done = x.execute(ctx, c, seen, false)
		done.since = c.memory.failingSince(key, done, c.Clock.Now())
		next = unverifiedStatus(&plan.Status, conclude(next, done, c.Clock.Now(), c.RetryTimeout), done, c.Clock.Now())
		if next.Phase != v1alpha1.InstallPlanPhaseInstalling {
			c.memory.update(key, func(p *remembered) { p.crds = nil })
		}
	}
	if err := c.report(ctx, plan, next, done); err != nil {
		if seen.nudged {
			c.memory.nudge(key)
		}
		return ctrl.Result{}, err
	}
	if plan.Status.Phase == v1alpha1.InstallPlanPhaseFailed && done.unverified > accepted {
		return ctrl.Result{RequeueAfter: c.verifyFailed(key, done)}, nil
	}
	if next.Phase == v1alpha1.InstallPlanPhaseFailed {
		c.memory.update(key, func(p *remembered) { p.obstacles, p.failed = done.obstacles, c.Clock.Now() })
	}
	pause := retryAfter(next, done, c.Clock.Now(), c.RetryTimeout)
	if wait != nil && !done.executed {
		pause = reconcile.UntilUpgrade(wait, c.Clock.Now())
	}
	c.memory.update(key, func(p *remembered) {
		if p.due = (time.Time{}); done.err != nil && len(done.lookups) == 0 { // events hasten it otherwise, as those of bundles do
			p.due = c.Clock.Now().Add(pause)
		}
	})
	return ctrl.Result{RequeueAfter: pause}, nil
}
