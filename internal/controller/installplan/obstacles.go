package installplan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/claims"
	"fairlead.dev/fairlead/internal/rollout/crd"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// obstaclePause is how often the objects are checked that a plan failed on, and obstacleTime for how long: by then another plan
	// has been made for the same content, and has replaced it.
	obstaclePause = 30 * time.Second
	obstacleTime  = time.Hour
	// maxObstacles is how many of them are checked.
	maxObstacles = 5
)

// obstacle is an object that kept a step from being done: it was there, or what takes it was not.
type obstacle struct {
	ref       rollout.Ref
	unserved  bool                       // its kind was not served
	internal  *unstructured.Unstructured // what the API server could not write, because of an error of its own or of what it asks
	limited   bool                       // it is written with the permissions of the plan, not those of the manager
	refused   bool                       // it belonged to another owner
	resolving string                     // the operator of the step
	wants     map[string]claims.Operator // what the plan installs, by name
	looks     string                     // where it was not refused: how it was
}

// looksOf is what of an object decides on whether it can be changed as a step wants it. What its controller says in its status is not part of
// that, and neither are labels. What an administrator lets plans do with a CRD is.
func looksOf(o metav1.Object) string {
	return fmt.Sprint(o.GetUID(), o.GetGeneration(), o.GetDeletionTimestamp() != nil, o.GetAnnotations()[crd.ExemptionsKey])
}

// meet notes the object that kept a step from being done.
func (s *stepRun) meet(r rollout.ObjectResult) {
	var unknown *rollout.UnknownKindError
	switch {
	case errors.As(r.Err, &unknown):
		s.result.obstacle = &obstacle{ref: r.Ref, unserved: true}
	case mayPass(r.Err) && s.object != nil:
		wanted := s.object.DeepCopy()
		wanted.SetNamespace(r.Ref.Namespace)
		wanted.SetOwnerReferences(nil) // they have no UID yet, and the API server would look no further
		s.result.obstacle = &obstacle{ref: r.Ref, internal: wanted, limited: s.rule.wave != definitions}
	case r.Live != nil:
		var collision *rollout.CollisionError
		s.result.obstacle = &obstacle{ref: r.Ref, refused: errors.As(r.Err, &collision), resolving: s.step.Resolving, looks: looksOf(r.Live)}
	}
}

// mayPass reports whether an API server could not write an object because of an error of its own, or of what it asks.
func mayPass(err error) bool { return apierrors.IsInternalError(err) || reconcile.IsTransient(err) }

// retrier finds out whether plans that failed have reason to be made once more.
type retrier struct{ *Controller }

// lookAtObstacles looks whether a plan that failed has reason to be made once more. What is remembered may be lost: then another one is
// made when its time has come.
func (c retrier) lookAtObstacles(ctx context.Context, plan *v1alpha1.InstallPlan) (ctrl.Result, error) {
	key := client.ObjectKeyFromObject(plan)
	past := c.memory.recall(key)
	if len(past.obstacles) == 0 || plan.IsHandWritten() || plan.Annotations[v1alpha1.RetryAnnotation] != "" || c.Clock.Since(past.failed) > obstacleTime {
		c.memory.update(key, func(p *remembered) { p.obstacles, p.failed = nil, time.Time{} })
		return ctrl.Result{}, nil
	}
	all, err := claims.List(ctx, c.client)
	if err != nil {
		return ctrl.Result{}, err
	}
	for _, o := range past.obstacles {
		why, err := c.isOutOfTheWay(ctx, plan, all, o)
		if err != nil {
			return ctrl.Result{}, err
		}
		if why != "" {
			// Let the one who makes plans know that another one may be made.
			before := plan.DeepCopy()
			after := plan.DeepCopy()
			metav1.SetMetaDataAnnotation(&after.ObjectMeta, v1alpha1.RetryAnnotation, why)
			if err := c.client.Patch(ctx, after, client.MergeFrom(before), client.FieldOwner(fieldOwner)); client.IgnoreNotFound(err) != nil {
				return ctrl.Result{}, fmt.Errorf("annotate InstallPlan %s/%s, because %s: %w", plan.Namespace, plan.Name, why, err)
			}
			return ctrl.Result{}, nil
		}
	}
	return ctrl.Result{RequeueAfter: obstaclePause}, nil
}

// isOutOfTheWay says why a plan may get past an object that it failed on; empty is that it would not. Whose the object is, where that
// was in the way, is judged as a plan does: an object may change all the time and still belong to the same.
func (c retrier) isOutOfTheWay(ctx context.Context, plan *v1alpha1.InstallPlan, all claims.Operators, o obstacle) (string, error) {
	if o.internal != nil {
		// Whether the API server takes an object that it could not write because of an error of its own, or of a webhook that it asks: it
		// is asked to write it, as whom the plan is carried out, and to leave it at that. What it refuses for another reason than such an
		// error or a permission is for another plan to report.
		err := c.try(ctx, plan, o)
		switch {
		case mayPass(err) || apierrors.IsForbidden(err):
			return "", nil
		case errors.Is(err, errNobody):
			return "", err
		}
		return fmt.Sprintf("the API server can write %s again", o.ref), nil
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(o.ref.GroupVersionKind)
	err := c.live.Get(ctx, types.NamespacedName{Namespace: o.ref.Namespace, Name: o.ref.Name}, live)
	if o.unserved {
		if rollout.IsUnknownKind(err) {
			return "", nil
		}
		return fmt.Sprintf("the API server serves the kind of %s now", o.ref), client.IgnoreNotFound(err)
	}
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) { // of a kind that is gone there are no objects either
		return fmt.Sprintf("%s is gone", o.ref), nil
	}
	if err != nil {
		return "", fmt.Errorf("look again at %s, which an InstallPlan failed on: %w", o.ref, err)
	}
	if !o.refused {
		if looksOf(live) == o.looks {
			return "", nil
		}
		return fmt.Sprintf("%s has changed", o.ref), nil
	}
	wants := claims.New(c.live, plan.Namespace, all, o.wants)
	if refused, _ := wants.Judge(ctx, o.resolving, live); refused != "" {
		return "", nil
	}
	return fmt.Sprintf("%s may be adopted now", o.ref), nil
}

// errNobody says that there is no one to ask as.
var errNobody = errors.New("its account cannot be used")

// try writes an object without a trace. New objects are created, because that takes no other permission; see the apply engine.
func (c retrier) try(ctx context.Context, plan *v1alpha1.InstallPlan, o obstacle) error {
	writer := c.client
	if account := plan.Status.AttenuatedServiceAccountRef; account != nil && o.limited {
		var err error
		if writer, err = c.Accounts.Client(ctx, account.Namespace, account.Name); err != nil {
			return fmt.Errorf("ask whether %s can be written, which InstallPlan %s/%s failed on: %w: %w", o.ref, plan.Namespace, plan.Name, errNobody, err)
		}
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(o.ref.GroupVersionKind)
	wanted := o.internal.DeepCopy()
	switch err := c.live.Get(ctx, client.ObjectKeyFromObject(wanted), live); {
	case err == nil:
		return rollout.Assert(ctx, writer, client.ApplyConfigurationFromUnstructured(wanted), fieldOwner, client.DryRunAll)
	case apierrors.IsNotFound(err) && !rollout.IsUnknownKind(err):
		return writer.Create(ctx, wanted, client.DryRunAll, client.FieldOwner(fieldOwner))
	default:
		return err
	}
}
