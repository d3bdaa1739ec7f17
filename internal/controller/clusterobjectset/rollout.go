package clusterobjectset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// How soon a set is checked again where no event may tell that there is something to do.
const (
	collisionRetry = 10 * time.Second
	deletionRetry  = 2 * time.Second
	progressRetry  = 30 * time.Second
)

// conclude writes the status, retires older revisions, and says when the set is to be checked again.
func (c *Controller) conclude(ctx context.Context, f *family, o outcome) (ctrl.Result, error) {
	now := c.clock.Now()
	rolledOut := o.rolledOut(f.set)
	if err := c.reporter.report(ctx, f.set, func(set *olmv1.ClusterObjectSet) { reportRollout(set, o, now) }); err != nil {
		return ctrl.Result{}, err
	}
	var linger time.Duration
	// As long as the API server does not have it that this revision has succeeded, an earlier one is what is installed.
	if rolledOut && hasSucceeded(f.set) {
		if linger = c.converters.lingers(ctx, f); linger <= 0 {
			// Archive the revisions before one that is complete.
			older := f.older()
			var all []error
			for _, set := range older {
				before := set.DeepCopy()
				set.Spec.LifecycleState = olmv1.LifecycleStateArchived
				reconcile.Log(ctx, set).Info("archived", "reason", "a later revision has rolled out")
				all = append(all, unlessOutdated("archive", set, c.client.Patch(ctx, set, client.MergeFrom(before), fieldManager)))
			}
			if err := errors.Join(all...); err != nil {
				return ctrl.Result{}, err
			}
		}
	}
	if errors.As(o.err, new(*revision.BlockedError)) {
		o.retry = progressRetry // a person may put right a Secret of which no event tells
	}
	again := reconcile.Sooner(o.retry, linger)
	if !rolledOut {
		again = reconcile.Sooner(again, deadline(f.set).Sub(now))
	}
	result := ctrl.Result{RequeueAfter: again}
	if o.retry > 0 {
		return result, nil // what is wrong is told in the status, and going on sooner does not help
	}
	if o.err != nil {
		return ctrl.Result{}, o.err
	}
	return result, nil
}

// bringAbout applies what is not known to be as desired. It returns false when the set has changed since it was read.
func (c *Controller) bringAbout(ctx context.Context, f *family, known *notes) (_ outcome, done bool) {
	if err := c.identities.vouched(ctx, f.set); err != nil {
		return outcome{err: err}, true
	}
	content, err := c.contents.load(ctx, f.set, known)
	if err != nil {
		return outcome{err: err}, true
	}
	if err := refused(content); err != nil {
		return outcome{err: err}, true
	}
	if recorded, err := c.reporter.record(ctx, f.set, content); !recorded {
		return outcome{err: err}, false
	}
	users, err := userProbes(f.set)
	if err != nil {
		return outcome{err: err}, true
	}
	if err := c.watches.want(ctx, f.set, known.kinds()); err != nil {
		return outcome{err: err}, true
	}
	writer, err := c.identities.writer(ctx, f.set)
	if err != nil {
		return outcome{err: err}, true
	}
	workloads := c.workloads(f.set)
	phases, entries := c.wanted(ctx, f, known, content, users, writer, workloads)
	_, extension := revision.ExtensionOf(f.set)
	result := c.engine.Apply(ctx, phases)
	for i, p := range result.Phases {
		for j := range p.Objects {
			o, e := &p.Objects[j], entries[i][j]
			if e.unread != nil && errors.As(o.Err, new(*rollout.CollisionError)) { // it is tried again, and may be no collision
				o.Err = e.unread
			}
			attempted := o.Live != nil && o.Outcome != rollout.NotAttempted
			if o.Err == nil && attempted && metav1.IsControlledBy(o.Live, f.set) {
				// Take the object from the extension of the set. Implementations that install by way of Helm make that the controller, so that all objects go
				// with it, those included that are kept when the set goes. An apply cannot take away what others have written.
				// What says for whom it was kept is over, too: it is adopted once by that.
				o.Err = c.handover.settle(ctx, o.Live, func(r metav1.OwnerReference) bool { return extension != "" && r.UID == extension })
			}
			e.version, e.left = "", o.Outcome == rollout.Left
			if o.Err == nil && o.Waiting == "" && attempted {
				e.version = o.Live.GetResourceVersion()
			}
		}
	}
	return workloads.addTo(c.judge(f.set, result)), true
}

// wanted are the phases as the engine takes them, with what is known of each object. Phases of the same rank become one. Definitions that come
// to be converted by another server come twice: the last phase of all leads to that.
func (c *Controller) wanted(ctx context.Context, f *family, known *notes, content map[int]revision.Phase, users []probe, writer client.Client, workloads *workloads) (phases []rollout.Phase, entries [][]*entry) {
	succeeded := hasSucceeded(f.set)
	handover := !succeeded && len(f.older()) > 0
	converted := rollout.Phase{Name: "conversion", Barrier: true, Client: writer}
	var converters []*entry
	claims := &revision.Claims{Reader: c.live, Count: c.count, Set: f.set, Siblings: f.siblings}
	for i := range f.set.Spec.Phases {
		if !revision.SameRank(f.set, i) || len(phases) == 0 {
			phases = append(phases, rollout.Phase{Name: f.set.Spec.Phases[i].Name, Barrier: true, Client: writer})
			entries = append(entries, nil)
		}
		last := len(phases) - 1
		for j, o := range content[i].Objects {
			e := &known.phases[i][j]
			if e.version != "" {
				continue
			}
			e.unread = nil
			f.mark(o.Unstructured)
			object := rollout.Object{
				Wanted: o.Unstructured,
				Owner:  "ClusterObjectSet " + f.set.Name,
				Claim: func(live *unstructured.Unstructured) string {
					var verdict rollout.Ownership
					verdict, e.unread = claims.Judge(ctx, o.Protection, live)
					return verdict.Reason
				},
				Remedy: func(live *unstructured.Unstructured) string { return claims.Remedy(ctx, live) },
				Leave: func(live *unstructured.Unstructured) bool {
					return revision.Claim(f.set, f.siblings, o.Protection, live).Verdict == rollout.Ceded
				},
				Adjust: f.displace,
				Probe:  probeOf(o.Unstructured, users, func(u *unstructured.Unstructured) rollout.Probe { return workloads.probe(ctx, u) }),
				// What ran once is corrected as far as it can be.
				Optional: succeeded,
			}
			if handover && crd.ReadConverter(o.Unstructured).IsService() {
				converted.Objects, converters = append(converted.Objects, object), append(converters, e)
				// Let a definition be converted by whatever converts it now, as long as that runs.
				v := c.converters
				next := object.Adjust
				object.Adjust = func(desired, live *unstructured.Unstructured) error {
					if err := next(desired, live); err != nil || live == nil {
						return err
					}
					handover := crd.Handover{Reader: v.live, Since: f.set.CreationTimestamp}
					for _, p := range content {
						for _, o := range p.Objects {
							if kind := o.GroupVersionKind(); kind.Group == "" && kind.Kind == "Service" {
								handover.Services = append(handover.Services, o.Unstructured)
							}
						}
					}
					return handover.Keep(ctx, desired, live)
				}
				e = &entry{} // it is as it is to be when the last phase is through
			}
			if o.GroupVersionKind() == crdKind {
				object.Adjust = c.converters.migrate(ctx, object.Adjust)
			}
			phases[last].Objects = append(phases[last].Objects, object)
			entries[last] = append(entries[last], e)
		}
	}
	if len(converted.Objects) > 0 {
		phases, entries = append(phases, converted), append(entries, converters)
	}
	return phases, entries
}

// judge says what a run came to.
func (c *Controller) judge(set *olmv1.ClusterObjectSet, result *rollout.Result) outcome {
	o := outcome{retry: progressRetry}
	var collisions, failures []string
	var collided []*rollout.CollisionError
	for _, p := range result.Phases {
		var colliding []string
		for _, r := range p.Objects {
			var collision *rollout.CollisionError
			var rewriting *rewritingError
			switch {
			case errors.As(r.Err, &rewriting):
				r.Waiting, o.retry = rewriting.waiting, deletionRetry
				o.missing = append(o.missing, missing(r))
			case errors.As(r.Err, &collision):
				colliding = append(colliding, collision.Fact())
				collided = append(collided, collision)
			case r.Err != nil:
				failures = append(failures, c.identities.explain(set, r.Err))
			case r.Waiting != "":
				o.missing = append(o.missing, missing(r))
				if r.Outcome == rollout.NotAttempted {
					o.retry = deletionRetry
				}
			}
		}
		if len(colliding) > 0 {
			collisions = append(collisions, fmt.Sprintf(revision.CollisionText+"%s: %s", p.Name, list(colliding)))
		}
	}
	if len(collided) > 0 {
		collisions[len(collisions)-1] += "; " + list(rollout.Remedies(collided))
	}
	if len(collisions)+len(failures) > 0 {
		o.err = errors.New(strings.Join(append(collisions, failures...), "\n"))
		o.retry = 0
	}
	if len(failures) == 0 && len(collisions) > 0 {
		o.retry = collisionRetry
	}
	return o
}
