package clusterobjectset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// teardownRetry is how soon a teardown is gone on with where no event tells that it can.
const teardownRetry = 5 * time.Second

// takeOut removes the objects of a set that is deleted or archived, the last phase first, and then lets it go.
func (c *Controller) takeOut(ctx context.Context, set *olmv1.ClusterObjectSet) (ctrl.Result, error) {
	c.reporter.measure(set, set)
	deleted := set.DeletionTimestamp != nil
	progressing := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeProgressing)
	archived := progressing != nil && progressing.Reason == olmv1.ReasonArchived
	if archived && !deleted && set.Status.ObservedGeneration != set.Generation { // a manager archived it that made no verdicts
		if err := c.reporter.report(ctx, set, func(*olmv1.ClusterObjectSet) {}); err != nil {
			return ctrl.Result{}, err
		}
	}
	if held := controllerutil.ContainsFinalizer(set, olmv1.TeardownFinalizer); !held && (deleted || archived) {
		c.forget(ctx, set.Name)
		return ctrl.Result{}, nil
	}
	if !deleted && archived {
		return ctrl.Result{}, c.removeFinalizer(ctx, set)
	}
	known := c.memory.of(set)
	if err := c.contents.learn(ctx, set, known); err != nil {
		return ctrl.Result{}, errors.Join(err, c.reporter.retrying(ctx, set, messages.Error(err)))
	}
	if deleted && revision.Orphans(set) {
		if err := c.handover.orphan(ctx, set, known); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, c.removeFinalizer(ctx, set)
	}
	left, total, reasons := c.teardown(ctx, set, known)
	if len(reasons) > 0 || left > 0 {
		text := fmt.Sprintf("Revision %s is being removed: %d of %d objects are left.", version(set), left, total)
		if len(reasons) > 0 {
			text += "\n" + list(reasons)
		}
		return ctrl.Result{RequeueAfter: teardownRetry}, c.reporter.retrying(ctx, set, text)
	}
	if !deleted {
		now := c.clock.Now()
		if err := c.reporter.report(ctx, set, func(set *olmv1.ClusterObjectSet) { reportArchived(set, now) }); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, c.removeFinalizer(ctx, set)
}

// reportArchived sets the conditions of a set of which nothing is left.
func reportArchived(set *olmv1.ClusterObjectSet, now time.Time) {
	text := "Revision " + version(set) + " is archived."
	setCondition(set, olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionFalse, olmv1.ReasonArchived, text), now)
	setCondition(set, olmv1.NewCondition(olmv1.TypeAvailable, metav1.ConditionUnknown, olmv1.ReasonArchived, text), now)
}

func (r *reporter) retrying(ctx context.Context, set *olmv1.ClusterObjectSet, text string) error {
	now := r.clock.Now()
	return r.report(ctx, set, func(set *olmv1.ClusterObjectSet) {
		setCondition(set, olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionTrue, olmv1.ReasonRetrying, text), now)
	})
}

// learn finds out which objects a set has.
func (l *contents) learn(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes) error {
	if known.phases != nil {
		return nil
	}
	all, secrets, err := l.read(ctx, set)
	// What a service account may not read, and was never read, was never applied either.
	if err != nil && (revision.Lost(err) || apierrors.IsForbidden(err) && len(set.Status.ObservedPhases) == 0) {
		return l.findOut(ctx, set, known, err)
	}
	if err == nil {
		known.learn(all, secrets)
	}
	return err
}

// teardown does as much as can be done at once. It returns how many objects are left, and what keeps them.
func (c *Controller) teardown(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes) (left, total int, reasons []string) {
	for _, p := range known.phases {
		total += len(p)
	}
	if total == 0 {
		return 0, 0, nil
	}
	f, err := c.familyOf(ctx, set)
	if err == nil {
		err = c.watches.want(ctx, f.set, known.kinds())
	}
	if err == nil {
		err = c.handover.giveBack(ctx, f, known)
	}
	var writer client.Client
	if err == nil {
		if writer, err = c.identities.writer(ctx, f.set); apierrors.IsNotFound(err) {
			writer, err = nil, nil // without its account no one but the manager is left to remove what the account has made
		}
	}
	var settled *definitions
	if err == nil {
		settled, err = c.keeper.settle(ctx, f, known)
	}
	if err != nil {
		return total, total, []string{c.identities.explain(set, err)}
	}
	phases, held := leaving(set, known, settled, writer)
	left, reasons = held, settled.waiting
	for _, p := range c.engine.Teardown(ctx, phases).Phases {
		for _, o := range p.Objects {
			if o.Outcome == rollout.Kept {
				o.Err = c.handover.removeOwners(ctx, o.Live, func(r metav1.OwnerReference) bool { return r.UID == set.UID })
			}
			switch {
			case o.Err != nil:
				reasons = append(reasons, c.identities.explain(set, o.Err))
				left++
			case o.Outcome != rollout.Gone && o.Outcome != rollout.Kept:
				left++
				if o.Waiting != "" {
					reasons = append(reasons, o.Waiting)
				}
			}
		}
	}
	return left, total, reasons
}

// leaving are the phases as the engine takes them out, and how many objects are blocked. Definitions come before the last phase, those that
// have been waited for long enough after the first.
func leaving(set *olmv1.ClusterObjectSet, known *notes, d *definitions, writer client.Client) (phases []rollout.Phase, held int) {
	first, late := rollout.Phase{Name: "definitions", Client: writer}, rollout.Phase{Name: "late definitions", Client: writer}
	for i, p := range known.phases {
		if len(phases) == 0 || known.found != nil || !revision.SameRank(set, i) {
			name := ""
			if known.found != nil {
				name = known.found[i]
			} else {
				name = set.Spec.Phases[i].Name
			}
			phases = append(phases, rollout.Phase{Name: name, Client: writer})
		}
		for _, e := range p {
			to := &phases[len(phases)-1]
			switch {
			case d.first[e.ref]:
				to = &first
			case d.late[e.ref]:
				to = &late
			case d.hold:
				held++
				continue
			}
			to.Objects = append(to.Objects, rollout.Object{Wanted: named(e.ref), Claim: rollout.NotOurs(set.UID)})
		}
	}
	return slices.Concat([]rollout.Phase{late}, phases, []rollout.Phase{first}), held
}

func named(ref rollout.Ref) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(ref.GroupVersionKind)
	u.SetNamespace(ref.Namespace)
	u.SetName(ref.Name)
	return u
}
