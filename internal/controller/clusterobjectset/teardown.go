package clusterobjectset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/apply"
	"fairlead.dev/fairlead/internal/revision"
)

// teardownRetry is how soon a teardown is gone on with where no event tells that it can.
const teardownRetry = 5 * time.Second

// reasonContentLost is the reason of the Event that tells who takes over a teardown.
const reasonContentLost = "ContentLost"

// takeOut removes the objects of a set that is deleted or archived, the last phase first, and then lets it go.
func (c *Controller) takeOut(ctx context.Context, set *olmv1.ClusterObjectSet) (reconcile.Result, error) {
	deleted := set.DeletionTimestamp != nil
	if held := controllerutil.ContainsFinalizer(set, olmv1.TeardownFinalizer); !held && (deleted || isArchived(set)) {
		c.forget(ctx, set.Name)
		return reconcile.Result{}, nil
	}
	if !deleted && isArchived(set) {
		return reconcile.Result{}, c.letGo(ctx, set)
	}
	known := c.memory.of(set)
	if err := c.learn(ctx, set, known); err != nil {
		return c.withoutContent(ctx, set, err)
	}
	if deleted && slices.Contains(set.Finalizers, metav1.FinalizerOrphanDependents) {
		if err := c.orphan(ctx, set, known); err != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, c.letGo(ctx, set)
	}
	left, total, trouble := c.teardown(ctx, set, known)
	if len(trouble) > 0 || left > 0 {
		text := fmt.Sprintf("Revision %s is being taken out: %d of %d objects are left.", version(set), left, total)
		if len(trouble) > 0 {
			text += "\n" + list(trouble)
		}
		return reconcile.Result{RequeueAfter: teardownRetry}, c.retrying(ctx, set, text)
	}
	if !deleted {
		now := c.clock.Now()
		if err := c.report(ctx, set, func(set *olmv1.ClusterObjectSet) { archived(set, now) }); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, c.letGo(ctx, set)
}

// archived sets the conditions of an archived set whose objects are gone.
func archived(set *olmv1.ClusterObjectSet, now time.Time) {
	text := "Revision " + version(set) + " is archived."
	setCondition(set, olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionFalse, olmv1.ReasonArchived, text), now)
	setCondition(set, olmv1.NewCondition(olmv1.TypeAvailable, metav1.ConditionUnknown, olmv1.ReasonArchived, text), now)
}

func isArchived(set *olmv1.ClusterObjectSet) bool {
	condition := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeProgressing)
	return condition != nil && condition.Reason == olmv1.ReasonArchived
}

func (c *Controller) retrying(ctx context.Context, set *olmv1.ClusterObjectSet, text string) error {
	now := c.clock.Now()
	return c.report(ctx, set, func(set *olmv1.ClusterObjectSet) {
		setCondition(set, olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionTrue, olmv1.ReasonRetrying, text), now)
	})
}

// learn finds out which objects a set has.
func (c *Controller) learn(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes) error {
	if known.phases != nil {
		return nil
	}
	all, secrets, err := c.read(ctx, set)
	if err == nil {
		known.learn(all, secrets)
	}
	return err
}

// withoutContent is for sets of which nobody can tell any more what they consist of. What a deleted one controls is deleted by Kubernetes,
// because it is its owner.
func (c *Controller) withoutContent(ctx context.Context, set *olmv1.ClusterObjectSet, err error) (reconcile.Result, error) {
	lost := apierrors.IsNotFound(err) || errors.As(err, new(*revision.BlockedError))
	switch {
	case lost && set.DeletionTimestamp != nil:
		c.events.Event(set, corev1.EventTypeWarning, reasonContentLost, "The objects are left to the garbage collector, which keeps no order: "+err.Error())
		return reconcile.Result{}, c.letGo(ctx, set)
	case lost:
		text := fmt.Sprintf("Revision %s cannot be taken out: %v. Put back the Secrets that it refers to, or delete the ClusterObjectSet: Kubernetes then deletes what it controls.", version(set), err)
		return reconcile.Result{RequeueAfter: progressRetry}, c.retrying(ctx, set, text)
	}
	return reconcile.Result{}, errors.Join(err, c.retrying(ctx, set, err.Error()))
}

// teardown does as much as can be done at once. It returns how many objects are left, and what keeps them.
func (c *Controller) teardown(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes) (left, total int, trouble []string) {
	for _, p := range known.phases {
		total += len(p)
	}
	writer, err := c.prepare(ctx, set, known)
	if err != nil {
		return total, total, []string{c.explain(set, err)}
	}
	var phases []apply.Phase
	for i, p := range known.phases {
		if !revision.SameRank(set, i) || len(phases) == 0 {
			phases = append(phases, apply.Phase{Name: set.Spec.Phases[i].Name, Client: writer})
		}
		last := &phases[len(phases)-1]
		for _, e := range p {
			last.Objects = append(last.Objects, apply.Object{Wanted: named(e.ref), Claim: apply.NotOurs(set.UID)})
		}
	}
	for _, p := range c.engine.Teardown(ctx, phases).Phases {
		for _, o := range p.Objects {
			if o.Outcome == apply.Kept {
				o.Err = c.disown(ctx, set, o.Live)
			}
			switch {
			case o.Err != nil:
				trouble = append(trouble, c.explain(set, o.Err))
				left++
			case o.Outcome != apply.Gone && o.Outcome != apply.Kept:
				left++
				if o.Waiting != "" {
					trouble = append(trouble, o.Waiting)
				}
			}
		}
	}
	return left, total, trouble
}

// prepare makes a set ready to be taken out, and returns the client that does it.
func (c *Controller) prepare(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes) (client.Client, error) {
	if err := c.watches.want(ctx, set, known.kinds()); err != nil {
		return nil, err
	}
	f, err := c.familyOf(ctx, set)
	if err != nil {
		return nil, err
	}
	if err := c.handOver(ctx, f, known); err != nil {
		return nil, err
	}
	writer, err := c.writer(ctx, set)
	if apierrors.IsNotFound(err) {
		return nil, nil // without its account nobody but the manager is left to remove what the account has made
	}
	return writer, err
}

func named(ref apply.Ref) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(ref.GroupVersionKind)
	u.SetNamespace(ref.Namespace)
	u.SetName(ref.Name)
	return u
}
