package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

// fieldManager owns the fields that this controller applies.
const fieldManager = client.FieldOwner("fairlead-csv")

// Controller reconciles ClusterServiceVersions. Its client reads from caches that have the indexes of index.go.
type Controller struct {
	client client.Client
	// live reads what is not cached: Secrets, by name.
	live client.Reader
	// accounts act as service accounts of OperatorGroups.
	accounts accounts
	mapper   meta.RESTMapper
	server   serverVersion
	events   record.EventRecorder
	clock    clock.PassiveClock
	limits   limits
	proxy    proxyWatch
	counted  *metrics.ClusterServiceVersions
	// written is what was written last to each ClusterServiceVersion, until a cache shows it: a pass before that would write the same again. writtenAt is
	// when that was, by name.
	written   reconcile.StatusMemory[v1alpha1.ClusterServiceVersionStatus]
	writtenAt sync.Map
	// dial reaches the servers of operators; nil where the manager cannot. unreached is how often they were asked in vain, by the name of the
	// ClusterServiceVersion.
	dial      Dial
	unreached sync.Map
	issued    serving.Issues
}

// detailInterval is how often the details of a state, such as what is still missing, are written at most. The state
// itself is written at once. While the objects of an operator arrive, its details change with each of them.
const detailInterval = reconcile.StatusInterval

// limits are the times that a ClusterServiceVersion has.
type limits struct {
	install     time.Duration // to become healthy after the install
	stable      time.Duration // to be available without a restart, where nothing else shows that an operator works; 0 is none
	certificate time.Duration // of a serving certificate
	namespaces  []string      // that the manager is limited to, if any
}

// serverVersion knows the version of the cluster.
type serverVersion interface {
	ServerVersion() (*apimachineryversion.Info, error)
}

// Reconcile makes one pass over one ClusterServiceVersion.
func (c *Controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return reconcile.Typed[*v1alpha1.ClusterServiceVersion]{Client: c.client, Owner: fieldManager, Resources: watched,
		Step: c.unlessSettled(c.step), Deleting: c.unlessSettled(c.finalize), Gone: c.gone}.Reconcile(ctx, req)
}

// watched are the resources of which a conflict is followed by an event.
var watched = []string{"clusterserviceversions"}

// unlessSettled leaves out copies, which have a controller of their own, and passes on a cache that lags behind the last write, whose event follows.
func (c *Controller) unlessSettled(next func(context.Context, *v1alpha1.ClusterServiceVersion) (ctrl.Result, error)) func(context.Context, *v1alpha1.ClusterServiceVersion) (ctrl.Result, error) {
	return func(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) (ctrl.Result, error) {
		if csv.IsCopied() {
			c.counted.Gone(csv.Namespace, csv.Name)
			return ctrl.Result{}, nil
		}
		if c.written.Stale(csv) {
			return ctrl.Result{}, nil
		}
		c.count(csv, &csv.Status)
		return next(ctx, csv)
	}
}

// step makes a pass, unless the namespace is being deleted.
func (c *Controller) step(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) (ctrl.Result, error) {
	if _, going, err := c.snapshot(csv).namespace(ctx, csv.Namespace); err != nil || going {
		return ctrl.Result{}, err
	}
	return c.pass(ctx, csv)
}

// gone forgets a ClusterServiceVersion that does not exist.
func (c *Controller) gone(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	c.written.Forget(key)
	c.writtenAt.Delete(key)
	c.unreached.Delete(key)
	c.counted.Gone(key.Namespace, key.Name)
	return ctrl.Result{}, c.removeOrphans(ctx, key)
}

// pass observes, decides and acts by way of the table, and reports with one write.
func (c *Controller) pass(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) (ctrl.Result, error) {
	now := metav1.NewTime(c.clock.Now()).Rfc3339Copy()
	p := &pass{snapshot: c.snapshot(csv), actor: c.actor()}
	before, after := &csv.Status, csv.Status.DeepCopy()
	steps, walked := walk(ctx, after, p, now)
	steps = settle(before, after, steps, p.done.began)
	result := c.wakeUp(after, p.snapshot)
	var written error
	if report(before, after, p.snapshot, now) {
		// The details of an unchanged state are not written again at once. When it began is no detail.
		last, known := c.writtenAt.Load(client.ObjectKeyFromObject(csv))
		wait := time.Duration(0)
		if known && len(steps) == 0 && after.LastTransitionTime.Equal(before.LastTransitionTime) {
			wait = detailInterval - c.clock.Since(last.(time.Time))
		}
		if wait > 0 {
			result.RequeueAfter = reconcile.Sooner(result.RequeueAfter, wait)
		} else {
			written = c.write(ctx, p.csv, after, steps)
		}
	}
	if after.Phase == toSucceeded {
		for _, cert := range p.certificatesRead.value {
			if cert.next.Step == serving.StepLimited && cert.held == nil {
				c.tell(csv, corev1.EventTypeWarning, v1alpha1.CSVReasonNeedsCertRotation, fmt.Sprintf("the certificate in Secret %s is not renewed: %v", cert.key(), cert.next.Reason))
			}
		}
	}
	return result, errors.Join(walked, written, p.due.retry)
}

// pass is what the table is asked about and acts on: what is observed, and who acts.
type pass struct {
	*snapshot
	actor *actor
}

func (p *pass) do(ctx context.Context, a action) error {
	done, err := p.actor.do(ctx, a, p.snapshot)
	p.snapshot = p.after(done)
	return err
}

// snapshot is what a pass over a CSV has observed before it begins: nothing.
func (c *Controller) snapshot(csv *v1alpha1.ClusterServiceVersion) *snapshot {
	o := &observer{cache: c.client, live: c.live, mapper: c.mapper, server: c.server, clock: c.clock, issued: &c.issued, namespaces: c.limits.namespaces,
		dial: c.dial, unreached: &c.unreached, csv: csv,
		once: once{endpoints: map[types.NamespacedName][]discoveryv1.EndpointSlice{}, asked: map[string]*asked{}}}
	return &snapshot{observer: o, limits: c.limits, due: &due{}, findings: map[observation]finding{}, judged: map[string]rollout.Health{}, how: observers, tryOut: c.actor().tryOut}
}

func (c *Controller) actor() *actor {
	return &actor{client: c.client, live: c.live, accounts: c.accounts, clock: c.clock, limits: c.limits, issued: &c.issued, tell: c.tell,
		wrote: func(before, after *v1alpha1.ClusterServiceVersion) {
			c.written.Remember(before, after, after.Status)
			c.writtenAt.Store(client.ObjectKeyFromObject(after), c.clock.Now())
		}}
}

// write writes the status and records the steps in Events.
func (c *Controller) write(ctx context.Context, csv *v1alpha1.ClusterServiceVersion, status *v1alpha1.ClusterServiceVersionStatus, steps []step) error {
	w := reconcile.StatusWriter[*v1alpha1.ClusterServiceVersion, v1alpha1.ClusterServiceVersionStatus]{Client: c.client, Owner: fieldManager, Memory: &c.written,
		Optimistic: true, Status: func(csv *v1alpha1.ClusterServiceVersion) *v1alpha1.ClusterServiceVersionStatus { return &csv.Status },
		States: func(s *v1alpha1.ClusterServiceVersionStatus) []reconcile.State {
			return []reconcile.State{{Type: "Phase", Status: string(s.Phase), Reason: string(s.Reason), Message: s.Message}}
		}}
	updated, err := w.Write(ctx, csv, *status)
	if err != nil || updated == csv {
		return err
	}
	c.writtenAt.Store(client.ObjectKeyFromObject(csv), c.clock.Now())
	c.count(updated, &updated.Status)
	for _, s := range steps {
		if s.phase == toReplacing {
			c.counted.Upgraded()
		}
		kind := corev1.EventTypeNormal
		if s.phase == toFailed {
			kind = corev1.EventTypeWarning
		}
		c.tell(updated, kind, s.reason, s.message)
	}
	return nil
}

// count brings the metrics of a CSV up to date. One that no one has observed yet has no state to count.
func (c *Controller) count(csv *v1alpha1.ClusterServiceVersion, s *v1alpha1.ClusterServiceVersionStatus) {
	if s.Phase == toNone {
		return
	}
	state := metrics.CSVState{
		Version: csv.Spec.Version.String(), Phase: string(s.Phase), Reason: string(s.Reason), Succeeded: s.Phase == toSucceeded,
	}
	if s.LastTransitionTime != nil {
		state.Since = s.LastTransitionTime.Time
	}
	c.counted.Seen(csv.Namespace, csv.Name, state)
}

// tell makes an Event about a CSV.
func (c *Controller) tell(csv *v1alpha1.ClusterServiceVersion, kind string, because reason, message string) {
	c.events.Event(csv, kind, string(because), messages.Event(message))
}

// unwatchedInterval is how often something is read again that is waited for and that no event reports of.
const unwatchedInterval = time.Minute

// wakeUp is when something is due that no event announces: the end of the time to install, and that of a certificate.
func (c *Controller) wakeUp(s *v1alpha1.ClusterServiceVersionStatus, seen *snapshot) ctrl.Result {
	var due []time.Time
	if s.Phase == toInstalling && s.LastTransitionTime != nil {
		due = append(due, s.LastTransitionTime.Add(c.limits.install))
	}
	// When the next step of a certificate is due; zero when there is none. A step that was not taken in this pass is not possible in
	// the phase of the CSV, and is retried.
	now := c.clock.Now()
	var first time.Time
	for _, c := range seen.certificatesRead.value {
		at := c.next.At
		if at.IsZero() {
			at = now.Add(unwatchedInterval)
		}
		if c.held == nil && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if !first.IsZero() {
		due = append(due, first)
	}
	if seen.due.unwatched {
		due = append(due, c.clock.Now().Add(unwatchedInterval))
	}
	if !seen.due.at.IsZero() {
		due = append(due, seen.due.at)
	}
	var again time.Duration
	for _, at := range due {
		again = reconcile.Sooner(again, max(at.Sub(c.clock.Now()), time.Second))
	}
	return ctrl.Result{RequeueAfter: again}
}
