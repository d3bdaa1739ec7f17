package clustercatalog

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
)

// fieldOwner is the field manager of all that the controller writes.
const fieldOwner = client.FieldOwner("fairlead-clustercatalog")

// Controller serves the contents of the ClusterCatalogs.
type Controller struct {
	client      client.Client
	images      imageReader
	verifier    image.Images // nil for a process without signature policies
	indexes     *catalogstore.Cache
	catalogs    *catalogstore.Set
	serving     *Serving
	credentials *credentials
	clock       clock.PassiveClock
	leads       func() bool                              // whether this manager writes to the cluster
	remove      func(ctx context.Context, digest string) // gives the room of content back that no one serves any more
	conditions  *metrics.Conditions
	polls       *metrics.Polls

	memory  memory
	reads   reads
	written reconcile.StatusMemory[olmv1.ClusterCatalogStatus]
}

// Reconcile reads what is due, publishes what was read, and reports.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return reconcile.Typed[*olmv1.ClusterCatalog]{Client: c.client, Step: c.pass, Deleting: c.withdraw, Gone: func(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
		c.drop(ctx, key.Name)
		c.written.Forget(key)
		c.conditions.Gone(key.Name)
		c.polls.Gone("", key.Name)
		return ctrl.Result{}, nil
	}}.Reconcile(ctx, request)
}

// withdraw serves a catalog no more that is being deleted or made unavailable.
func (c *Controller) withdraw(ctx context.Context, object *olmv1.ClusterCatalog) (ctrl.Result, error) {
	c.drop(ctx, object.Name)
	c.giveBack(ctx, object.Name, snapshot.CatalogDigest(object)) // also what an earlier run has left
	if !c.leads() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, c.write(ctx, object, report{})
}

func (c *Controller) pass(ctx context.Context, object *olmv1.ClusterCatalog) (ctrl.Result, error) {
	if object.Spec.AvailabilityMode == olmv1.AvailabilityModeUnavailable {
		return c.withdraw(ctx, object)
	}
	leads := c.leads()
	desired := target{leads: leads}
	if source := object.Spec.Source.Image; !leads {
		desired.ref = resolvedRef(object)
	} else if source != nil {
		desired.ref = source.Ref
	}
	known := c.recall(ctx, object, desired)
	known.signatures = known.signatures.Stale(image.Policy(c.verifier), c.clock.Now())
	known, begun := c.refresh(ctx, object, known)
	// What was read while the policy changed is verified once more before it is published.
	known.signatures = known.signatures.Stale(image.Policy(c.verifier), c.clock.Now())
	c.memory.keep(object.Name, known)
	scheduled := known
	if known.index != nil && known.signatures.Withheld() {
		known.index, known.withheld = nil, true
	}
	if known.index != nil || known.problem != nil || known.signatures.Withheld() {
		e := catalogstore.Entry{Index: known.index, Image: known.signatures.Image, Withheld: known.withheld} // what decisions get to see
		if known.problem != nil {
			e.Problem = messages.Error(known.problem)
		}
		c.catalogs.Publish(snapshot.CatalogRef(object.Name), e)
	}
	c.serving.publish(object.Name, known.index, known.unpacked)
	next := ctrl.Result{RequeueAfter: c.pause(object, scheduled, begun)}
	if !leads {
		return next, nil
	}
	base := "" // to which clients append the paths of the API; empty when the catalog is not served
	if c.serving != nil {
		base = c.serving.URL + "/catalogs/" + object.Name
	}
	reading := !begun.IsZero() && c.clock.Since(begun) >= slow && !known.reached
	return next, c.write(ctx, object, report{known: known, reading: reading, base: base})
}

// refresh adopts what was read since the last time, or begins to read what is due. It tells since when something is being read.
func (c *Controller) refresh(ctx context.Context, object *olmv1.ClusterCatalog, known content) (_ content, begun time.Time) {
	if err := check(object); err != nil && known.target.leads {
		known.problem, known.reached = err, false
		return known, time.Time{}
	}
	running, ended := c.reads.of(object.Name, known.target)
	if ended {
		known = known.after(running.found, running.err, c.clock.Now())
		known.secret, known.tried = running.secret, running.policy
		if at := object.Status.LastUnpacked; at != nil && known.reached && !known.target.leads {
			known.unpacked = at.Time // all say the same
		}
		if known.problem != nil && !known.target.leads {
			ctrl.LoggerFrom(ctx).Error(known.problem, "this manager, which does not lead, has not the content that the status names; what it had stays, and it is tried again")
		}
		return known, time.Time{}
	}
	if running != nil {
		return known, running.begun
	}
	sign := int(c.credentials.changes.Load())
	if at, ever := due(object, known, sign, image.Policy(c.verifier), c.clock.Now()); !ever || at.After(c.clock.Now()) {
		return known, time.Time{}
	}
	ref, now := known.target.ref, c.clock.Now()
	asked := ref
	if pinned(ref) {
		asked = requested(object, ref)
	}
	begins := &read{target: known.target, secret: sign, policy: image.Policy(c.verifier), begun: now}
	c.reads.begin(ctx, object.Name, begins, func(ctx context.Context) (reading, error) {
		attempt := image.BeginAttempt(c.verifier, asked, image.Auth{})
		var found reading
		auth, err := c.credentials.from.Read(ctx, c.credentials.reader)
		if err == nil {
			attempt.Auth = auth
			found, err = find(ctx, c.images, attempt, ref, asked, auth, known)
		}
		served := "" // what was served before, which may be served still
		if known.index != nil {
			served = digestOf(known.resolved)
		}
		found.signatures = attempt.Judgement(ctx, err, known.signatures, served)
		return found, err
	})
	return known, now
}

// pause is when to reconcile again without an event; 0 is not. An attempt that is under way says itself when it ends.
func (c *Controller) pause(object *olmv1.ClusterCatalog, known content, begun time.Time) time.Duration {
	if !begun.IsZero() {
		if left := slow - c.clock.Since(begun); left > 0 {
			return left
		}
		return 0
	}
	at, ever := due(object, known, known.secret, image.Policy(c.verifier), c.clock.Now())
	if !ever {
		return 0
	}
	return max(at.Sub(c.clock.Now()), catalogstore.MinimumPause)
}

// drop forgets all that there is of a catalog, and gives back the room that its content takes.
func (c *Controller) drop(ctx context.Context, name string) {
	known, _ := c.memory.get(name)
	c.reads.end(name)
	c.memory.forget(name)
	c.serving.publish(name, nil, time.Time{})
	c.catalogs.Withdraw(snapshot.CatalogRef(name))
	c.giveBack(ctx, name, digestOf(known.resolved))
}

// giveBack gives back the room of content that a catalog needs no more, unless another one needs it, which may not have been checked yet. One
// that is unavailable or being deleted needs nothing, whatever its status still names.
func (c *Controller) giveBack(ctx context.Context, name, digest string) {
	if digest == "" {
		return
	}
	var all olmv1.ClusterCatalogList
	if err := c.client.List(ctx, &all); err != nil {
		return // the manager collects it after a day (internal/manager/collect.go)
	}
	for i := range all.Items {
		if other := &all.Items[i]; other.Name != name && other.Spec.AvailabilityMode != olmv1.AvailabilityModeUnavailable && other.DeletionTimestamp.IsZero() &&
			snapshot.CatalogDigest(other) == digest {
			return
		}
	}
	c.remove(ctx, digest)
}

// countPoll tells when the registry of a catalog that is polled was last asked with success.
func (c *Controller) countPoll(object *olmv1.ClusterCatalog, known content) {
	interval, polls := pollInterval(object)
	if !polls || object.Spec.AvailabilityMode == olmv1.AvailabilityModeUnavailable {
		c.polls.Gone("", object.Name)
		return
	}
	var last time.Time
	if known.problem == nil && known.reached {
		last = known.looked
	}
	c.polls.Polled("", object.Name, last, c.clock.Now(), interval)
}

// write writes the metadata and the status of a catalog. Only the manager that leads does, and counts what the status says. An attempt that has ended
// has the catalog reconciled again, perhaps before the cache shows what was written then.
func (c *Controller) write(ctx context.Context, object *olmv1.ClusterCatalog, r report) error {
	if err := c.mark(ctx, object); err != nil || !object.DeletionTimestamp.IsZero() {
		return err
	}
	w := reconcile.StatusWriter[*olmv1.ClusterCatalog, olmv1.ClusterCatalogStatus]{Client: c.client, Owner: fieldOwner, Memory: &c.written,
		Status: func(object *olmv1.ClusterCatalog) *olmv1.ClusterCatalogStatus { return &object.Status },
		States: func(s *olmv1.ClusterCatalogStatus) []reconcile.State {
			return reconcile.Conditions(s.Conditions, reconcile.TypeReady)
		}}
	next := status(w.Latest(object), r, c.clock.Now())
	var conditions []metrics.Condition
	for _, one := range next.Conditions {
		if slices.Contains(reconcile.VerdictTypes, one.Type) {
			continue // what it follows from is counted
		}
		conditions = append(conditions, metrics.Condition{Type: one.Type, Status: string(one.Status), Reason: one.Reason})
	}
	c.conditions.Seen(object.Name, conditions...)
	c.countPoll(object, r.known)
	_, err := w.Write(ctx, object, next)
	return err
}
