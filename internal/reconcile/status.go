package reconcile

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// StatusWriter writes the statuses of the objects of one kind, T, whose status is an S: once a pass, and only what is new. It remembers each
// write until the cache shows it, so a pass on a stale cache neither repeats a write nor leaves out what another one has changed. Client, Owner and Status
// have to be set.
type StatusWriter[T client.Object, S any] struct {
	Client client.StatusClient
	Owner  client.FieldOwner
	// Status returns the status of an object.
	Status func(T) *S
	// Optimistic has a write fail with a conflict when the object has changed since it was read.
	Optimistic bool
	// Equal compares two statuses; equality.Semantic when nil.
	Equal func(a, b *S) bool
	// States are the parts of a status whose transitions are logged. Nil logs none.
	States func(*S) []State

	mu   sync.Mutex
	last map[types.NamespacedName]statusWrite[S]
}

// statusWrite is a write that the cache may not show yet: of which object, over which version, what it wrote, and the version that it made.
type statusWrite[S any] struct {
	uid           types.UID
	over, version string
	status        S
}

// State is a part of a status that has transitions: a condition, or a phase.
type State struct{ Type, Status, Reason, Message string }

// Conditions are the states of conditions.
func Conditions(conditions []metav1.Condition) []State {
	out := make([]State, 0, len(conditions))
	for _, c := range conditions {
		out = append(out, State{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message})
	}
	return out
}

// Write writes the next status of an object, and returns the object as it is then: the same one when nothing was written, because the status is
// not new or the object is gone.
func (w *StatusWriter[T, S]) Write(ctx context.Context, object T, next S) (T, error) {
	base := object
	if last, ok := w.unseen(object); ok {
		base = object.DeepCopyObject().(T)
		*w.Status(base) = last.status
	}
	if w.equal(w.Status(base), &next) {
		return object, nil
	}
	after := object.DeepCopyObject().(T)
	*w.Status(after) = next
	after = after.DeepCopyObject().(T) // the answer of the API server is read into it, and must not change next
	patch := client.MergeFrom(base)
	if w.Optimistic {
		patch = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	}
	err := w.Client.Status().Patch(ctx, after, patch, w.Owner)
	if apierrors.IsNotFound(err) {
		w.Forget(client.ObjectKeyFromObject(object))
		return object, nil
	}
	if err != nil {
		return object, fmt.Errorf("write the status of %s %s: %w", kindOf(object), Name(object), err)
	}
	w.remember(object, after, next)
	w.log(ctx, object, w.Status(base), &next)
	return after, nil
}

// Stale reports whether an object, from a cache, is older than the last status that was written to it. An event follows.
func (w *StatusWriter[T, S]) Stale(object T) bool {
	last, ok := w.unseen(object)
	return ok && last.version != last.over
}

// Forget drops what is remembered of an object that does not exist.
func (w *StatusWriter[T, S]) Forget(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, key)
}

// unseen returns the last write to an object, unless the object shows it: then it is forgotten. A write that changed nothing makes no version, and
// is never seen.
func (w *StatusWriter[T, S]) unseen(object T) (last statusWrite[S], ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key, version := client.ObjectKeyFromObject(object), object.GetResourceVersion()
	if last, ok = w.last[key]; !ok || version == "" {
		return last, false
	}
	order, err := resourceversion.CompareResourceVersion(version, last.version)
	if last.uid == object.GetUID() && (version == last.over || err == nil && order < 0) {
		return last, true
	}
	delete(w.last, key)
	return last, false
}

func (w *StatusWriter[T, S]) remember(before, after T, status S) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[types.NamespacedName]statusWrite[S]{}
	}
	w.last[client.ObjectKeyFromObject(before)] = statusWrite[S]{uid: before.GetUID(), over: before.GetResourceVersion(), version: after.GetResourceVersion(), status: status}
}

func (w *StatusWriter[T, S]) equal(a, b *S) bool {
	if w.Equal != nil {
		return w.Equal(a, b)
	}
	return equality.Semantic.DeepEqual(a, b)
}

// log makes a line of each transition.
func (w *StatusWriter[T, S]) log(ctx context.Context, object T, before, after *S) {
	if w.States == nil {
		return
	}
	type verdict struct{ status, reason string }
	known := map[string]verdict{}
	for _, s := range w.States(before) {
		known[s.Type] = verdict{s.Status, s.Reason}
	}
	for _, s := range w.States(after) {
		if known[s.Type] != (verdict{s.Status, s.Reason}) {
			Log(ctx, object).Info("status changed", "type", s.Type, "status", s.Status, "reason", s.Reason, "message", s.Message)
		}
	}
}
