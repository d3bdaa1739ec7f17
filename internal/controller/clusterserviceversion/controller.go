package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
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
	// written is the last write of each ClusterServiceVersion, by name.
	written sync.Map
	// dial reaches the servers of operators; nil where the manager cannot. unreached is how often they were asked in vain, by the name of the
	// ClusterServiceVersion.
	dial      Dial
	unreached sync.Map
	issued    serving.Issues
}

// write is what this controller wrote last, and when.
type write struct {
	resourceVersion string
	at              time.Time
}

// detailInterval is how often the details of a state, such as what is still missing, are written at most. The state
// itself is written at once. While the objects of an operator arrive, its details change with each of them.
const detailInterval = reconcile.StatusInterval

// limits are the times that a ClusterServiceVersion has.
type limits struct {
	install     time.Duration // to become healthy after the install
	certificate time.Duration // of a serving certificate
	namespaces  []string      // that the manager is limited to, if any
}

// serverVersion tells the version of the cluster.
type serverVersion interface {
	ServerVersion() (*apimachineryversion.Info, error)
}

// Reconcile makes one pass over one ClusterServiceVersion.
func (c *Controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	csv := &v1alpha1.ClusterServiceVersion{}
	err := c.client.Get(ctx, req.NamespacedName, csv)
	if apierrors.IsNotFound(err) {
		c.written.Delete(req.NamespacedName)
		c.unreached.Delete(req.NamespacedName)
		c.counted.Gone(req.Namespace, req.Name)
		return ctrl.Result{}, c.removeOrphans(ctx, req.NamespacedName)
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("read ClusterServiceVersion %s: %w", req.NamespacedName, err)
	}
	if csv.IsCopied() {
		c.counted.Gone(req.Namespace, req.Name)
		return ctrl.Result{}, nil
	}
	if c.outdated(csv) {
		return ctrl.Result{}, nil
	}
	c.count(csv, &csv.Status)
	if !csv.DeletionTimestamp.IsZero() {
		result, err := c.finalize(ctx, csv)
		return result, quiet(err)
	}
	if going, err := c.namespaceGoing(ctx, csv.Namespace); err != nil || going {
		return ctrl.Result{}, err
	}
	return c.pass(ctx, csv)
}

// pass observes, decides and acts by way of the table, and reports with one write.
func (c *Controller) pass(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) (ctrl.Result, error) {
	now := metav1.NewTime(c.clock.Now()).Rfc3339Copy()
	seen := newFacts(c, csv)
	before, after := &csv.Status, csv.Status.DeepCopy()
	steps, walked := walk(ctx, after, seen, now)
	steps = settle(before, after, steps, seen.rolloutBegan())
	result := c.wakeUp(after, seen)
	var written error
	if report(before, after, seen, now) {
		if wait := c.tooSoon(csv, after, steps); wait > 0 {
			result.RequeueAfter = reconcile.Sooner(result.RequeueAfter, wait)
		} else {
			written = c.write(ctx, seen.csv, after, steps)
		}
	}
	return result, quiet(errors.Join(walked, written, seen.retry))
}

// tooSoon is how long to wait before the details of an unchanged state are written again. When it began is no detail.
func (c *Controller) tooSoon(csv *v1alpha1.ClusterServiceVersion, after *v1alpha1.ClusterServiceVersionStatus, steps []step) time.Duration {
	last, ok := c.written.Load(client.ObjectKeyFromObject(csv))
	if !ok || len(steps) > 0 || !after.LastTransitionTime.Equal(csv.Status.LastTransitionTime) {
		return 0
	}
	return detailInterval - c.clock.Since(last.(write).at)
}

// write puts the status into the cluster and tells about the steps in Events.
func (c *Controller) write(ctx context.Context, csv *v1alpha1.ClusterServiceVersion, status *v1alpha1.ClusterServiceVersionStatus, steps []step) error {
	updated := csv.DeepCopy()
	updated.Status = *status
	patch := client.MergeFromWithOptions(csv, client.MergeFromWithOptimisticLock{})
	if err := c.client.Status().Patch(ctx, updated, patch, fieldManager); err != nil {
		return fmt.Errorf("write the status of ClusterServiceVersion %s: %w", client.ObjectKeyFromObject(csv), err)
	}
	c.remember(updated)
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

// count brings the metrics of a CSV up to date. One that nobody has looked at yet has no state to tell.
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

// unwatchedInterval is how often something is looked at again that is waited for and that no event tells of.
const unwatchedInterval = time.Minute

// wakeUp is when something is due that no event announces: the end of the time to install, and that of a certificate.
func (c *Controller) wakeUp(s *v1alpha1.ClusterServiceVersionStatus, seen *facts) ctrl.Result {
	var due []time.Time
	if s.Phase == toInstalling && s.LastTransitionTime != nil {
		due = append(due, s.LastTransitionTime.Add(c.limits.install))
	}
	if at := seen.certificates.due(c.clock.Now()); !at.IsZero() {
		due = append(due, at)
	}
	if seen.unwatched {
		due = append(due, c.clock.Now().Add(unwatchedInterval))
	}
	if !seen.again.IsZero() {
		due = append(due, seen.again)
	}
	var again time.Duration
	for _, at := range due {
		again = reconcile.Sooner(again, max(at.Sub(c.clock.Now()), time.Second))
	}
	return ctrl.Result{RequeueAfter: again}
}

// remember notes what this controller wrote last.
func (c *Controller) remember(csv *v1alpha1.ClusterServiceVersion) {
	c.written.Store(client.ObjectKeyFromObject(csv), write{csv.ResourceVersion, c.clock.Now()})
}

// outdated says whether the cache has not yet seen the last write of this controller. The event of that write follows.
func (c *Controller) outdated(csv *v1alpha1.ClusterServiceVersion) bool {
	last, ok := c.written.Load(client.ObjectKeyFromObject(csv))
	if !ok {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(csv.ResourceVersion, last.(write).resourceVersion)
	return err == nil && order < 0
}

// quiet leaves out what an event follows that wakes the ClusterServiceVersion up: that it has changed since it was read, and
// that a namespace is being deleted.
func quiet(err error) error { return reconcile.IgnoreSuperseded(err, "clusterserviceversions") }

// key is the name of an object with its namespace.
func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}
