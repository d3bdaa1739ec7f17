package clustercatalog

import (
	"context"
	"fmt"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
	remove      func(ctx context.Context, digest string) // gives the room of content back that nobody serves any more
	conditions  *metrics.Conditions

	memory  memory
	reads   reads
	written written
}

// Reconcile looks at what is due, publishes what was read, and reports.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var object olmv1.ClusterCatalog
	if err := c.client.Get(ctx, request.NamespacedName, &object); err != nil {
		if client.IgnoreNotFound(err) == nil {
			c.drop(ctx, request.Name)
			c.written.forget(request.Name)
			c.conditions.Gone(request.Name)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	leads := c.leads()
	if !object.DeletionTimestamp.IsZero() || object.Spec.AvailabilityMode == olmv1.AvailabilityModeUnavailable {
		c.drop(ctx, object.Name)
		c.giveBack(ctx, object.Name, snapshot.CatalogDigest(&object)) // also what an earlier run has left
		if !leads {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, c.write(ctx, &object, report{})
	}
	known := c.recall(ctx, &object, targetOf(&object, leads))
	known.signatures = known.signatures.Stale(image.Policy(c.verifier), c.clock.Now())
	known, begun := c.refresh(ctx, &object, known)
	// What was read while the policy changed is verified once more before it is published.
	known.signatures = known.signatures.Stale(image.Policy(c.verifier), c.clock.Now())
	c.memory.keep(object.Name, known)
	scheduled := known
	known = known.shown()
	if known.index != nil || known.problem != nil || known.signatures.Withheld() {
		c.catalogs.Publish(snapshot.CatalogRef(object.Name), known.entry())
	}
	c.serving.publish(object.Name, known.index, known.unpacked)
	next := ctrl.Result{RequeueAfter: c.pause(&object, scheduled, begun)}
	if !leads {
		return next, nil
	}
	reading := !begun.IsZero() && c.clock.Since(begun) >= slow && !known.reached
	return next, c.write(ctx, &object, report{known: known, reading: reading, base: c.serving.base(object.Name)})
}

// refresh takes over what was read since the last time, or begins to read what is due. It tells since when something is being read.
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
	sign := c.credentials.sign()
	if at, ever := c.due(object, known, sign); !ever || at.After(c.clock.Now()) {
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
		auth, err := c.credentials.auth(ctx)
		if err != nil {
			return conclude(ctx, attempt, reading{}, err, known)
		}
		attempt.Authenticate(auth)
		found, err := find(ctx, c.images, attempt, ref, asked, auth, known)
		return conclude(ctx, attempt, found, err, known)
	})
	return known, now
}

// due is when the registry of a catalog is to be asked next, or its content to be verified again.
func (c *Controller) due(object *olmv1.ClusterCatalog, known content, secret int) (time.Time, bool) {
	policy := image.Policy(c.verifier)
	switch {
	case known.target.ref == "" || known.target.leads && check(object) != nil || !known.signatures.Due(policy, c.clock.Now()):
		return due(object, known, secret)
	case known.problem != nil && known.tried == policy && known.secret == secret:
		return known.looked.Add(retryAfter(known.attempts)), true
	}
	return time.Time{}, true
}

// pause is when to look again without an event; 0 is not. An attempt that is under way says itself when it ends.
func (c *Controller) pause(object *olmv1.ClusterCatalog, known content, begun time.Time) time.Duration {
	if !begun.IsZero() {
		if left := slow - c.clock.Since(begun); left > 0 {
			return left
		}
		return 0
	}
	at, ever := c.due(object, known, known.secret)
	if !ever {
		return 0
	}
	return max(at.Sub(c.clock.Now()), minimumPause)
}

// drop forgets all that there is of a catalog, and gives back the room that its content takes.
func (c *Controller) drop(ctx context.Context, name string) {
	known, _ := c.memory.get(name)
	c.reads.end(name)
	c.memory.forget(name)
	c.serving.publish(name, nil, time.Time{})
	c.catalogs.Withdraw(snapshot.CatalogRef(name))
	c.giveBack(ctx, name, known.digest())
}

// giveBack gives back the room of content that a catalog needs no more, unless another one needs it, which may not have been looked at yet.
func (c *Controller) giveBack(ctx context.Context, name, digest string) {
	if digest == "" {
		return
	}
	var all olmv1.ClusterCatalogList
	if err := c.client.List(ctx, &all); err != nil {
		return // it is collected later
	}
	for i := range all.Items {
		if other := &all.Items[i]; other.Name != name && other.Spec.AvailabilityMode != olmv1.AvailabilityModeUnavailable && snapshot.CatalogDigest(other) == digest {
			return
		}
	}
	c.remove(ctx, digest)
}

// measure counts a catalog as its status says that it stands. Only the manager that leads does.
func (c *Controller) measure(object *olmv1.ClusterCatalog) {
	var all []metrics.Condition
	for _, one := range object.Status.Conditions {
		all = append(all, metrics.Condition{Type: one.Type, Status: string(one.Status), Reason: one.Reason})
	}
	c.conditions.Seen(object.Name, all...)
}

// write brings the metadata and the status of a catalog about.
func (c *Controller) write(ctx context.Context, object *olmv1.ClusterCatalog, r report) error {
	if err := c.mark(ctx, object); err != nil || !object.DeletionTimestamp.IsZero() {
		return err
	}
	before := object.DeepCopy()
	object.Status = status(before, r, c.clock.Now())
	c.measure(object)
	if same(before.Status, object.Status) || c.written.repeats(before, object.Status) {
		return nil
	}
	wanted := *object.Status.DeepCopy() // what the API server answers is read into the other one
	if err := c.client.Status().Patch(ctx, object, client.MergeFrom(before), fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of ClusterCatalog %s: %w", object.Name, err)
	}
	c.written.note(before, wanted)
	return nil
}
