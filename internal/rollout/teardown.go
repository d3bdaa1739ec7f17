package rollout

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Teardown removes the objects of the phases, the last phase first; a phase is begun when nothing of the one after it is left. It
// does as much as can be done at once; call it again until the result is complete. Objects that another client claims are kept.
// The result is in the order of the argument.
func (e *Engine) Teardown(ctx context.Context, phases []Phase) *Result {
	r := newRun(e, phases)
	for i := len(r.phases) - 1; i >= 0; i-- {
		tasks := r.phases[i].tasks
		r.each(tasks, func(t *task) { t.remove(ctx) })
		if stopped, waiting := held(tasks); stopped || waiting {
			break
		}
	}
	return r.result()
}

// remove asks for the removal of one object. When others write it at the same time it is read again.
func (t *task) remove(ctx context.Context) {
	for attempt := 1; ; attempt++ {
		if !t.look(ctx) {
			return
		}
		if t.Claim != nil && t.Claim(t.live) != "" {
			t.result.Outcome = Kept
			return
		}
		if t.live.GetDeletionTimestamp() != nil {
			break
		}
		err := t.deleteBy(ctx, t.client)
		if apierrors.IsConflict(err) && attempt < attempts {
			continue
		}
		if err != nil && !apierrors.IsNotFound(err) {
			t.fail("delete", err)
			return
		}
		if !t.look(ctx) {
			return
		}
		break
	}
	t.result.Outcome = Deleted
	t.result.Waiting = fmt.Sprintf("%s is being deleted", t.result.Ref)
	if finalizers := t.live.GetFinalizers(); len(finalizers) > 0 {
		t.result.Waiting += fmt.Sprintf(", which waits for %v", finalizers)
	}
}

// deleteBy removes the object that was read, and no other: the preconditions see to that.
func (t *task) deleteBy(ctx context.Context, c client.Client) error {
	uid, revision := t.live.GetUID(), t.live.GetResourceVersion()
	return c.Delete(ctx, t.live, client.Preconditions{UID: &uid, ResourceVersion: &revision}, client.PropagationPolicy(metav1.DeletePropagationBackground))
}

// look reads the object, and reports whether it is there.
func (t *task) look(ctx context.Context) bool {
	live, err := t.read(ctx)
	switch {
	case err != nil && !meta.IsNoMatchError(err):
		t.fail("read", err)
		return false
	case live == nil:
		t.result.Outcome, t.result.Live = Gone, nil
		return false
	}
	t.live, t.result.Live = live, live
	return true
}
