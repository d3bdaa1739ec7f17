package reconcile

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// StatusWriter writes the statuses of the objects of one kind, T, whose status is an S: once a pass, and only what is new. With its memory of
// each write until the cache shows it, a pass on a stale cache neither repeats a write nor leaves out what another one has changed.
type StatusWriter[T client.Object, S any] struct {
	Client client.StatusClient
	Owner  client.FieldOwner
	Memory *StatusMemory[S]
	// Status returns the status of an object.
	Status func(T) *S
	// Optimistic has a merge patch fail with a conflict when the object has changed since it was read.
	Optimistic bool
	// Patch returns the patch from an object to its next status, for statuses that are too large to be sent whole; a merge patch when nil.
	Patch func(from T, next *S) (client.Patch, error)
	// Equal compares two statuses; equality.Semantic when nil.
	Equal func(a, b *S) bool
	// States are the parts of a status whose transitions are logged. Nil logs none.
	States func(*S) []State
}

// StatusMemory is what was written last to each object of a controller. The zero value is ready.
type StatusMemory[S any] struct {
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

// Conditions are the states of conditions, but for those that repeat others: Reconciling and Stalled, which Ready tells of, and the types that are given
// besides.
func Conditions(conditions []metav1.Condition, besides ...string) []State {
	out := make([]State, 0, len(conditions))
	for _, c := range conditions {
		if c.Type == TypeReconciling || c.Type == TypeStalled || slices.Contains(besides, c.Type) {
			continue
		}
		out = append(out, State{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message})
	}
	return out
}

// Write writes the next status of an object, and returns the object as it is then: the same one when nothing was written, because the status is
// not new or the object is gone.
func (w StatusWriter[T, S]) Write(ctx context.Context, object T, next S) (T, error) {
	base, same := w.Latest(object), w.Equal
	if same == nil {
		same = func(a, b *S) bool { return equality.Semantic.DeepEqual(a, b) }
	}
	if same(w.Status(base), &next) {
		return object, nil
	}
	after := object.DeepCopyObject().(T)
	*w.Status(after) = next
	after = after.DeepCopyObject().(T) // the answer of the API server is read into it, and must not change next
	patch, err := client.MergeFrom(base), error(nil)
	switch {
	case w.Patch != nil:
		if patch, err = w.Patch(base, &next); err != nil {
			return object, fmt.Errorf("encode the status of %s %s: %w", kindOf(object), Name(object), err)
		}
	case w.Optimistic:
		patch = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	}
	err = w.Client.Status().Patch(ctx, after, patch, w.Owner)
	if apierrors.IsNotFound(err) {
		w.Memory.Forget(client.ObjectKeyFromObject(object))
		return object, nil
	}
	if err != nil {
		return object, fmt.Errorf("write the status of %s %s: %w", kindOf(object), Name(object), err)
	}
	w.Memory.Remember(object, after, next)
	if w.States == nil {
		return after, nil
	}
	known := map[string]State{}
	for _, s := range w.States(w.Status(base)) {
		known[s.Type] = s
	}
	for _, s := range w.States(&next) {
		if was := known[s.Type]; was.Status != s.Status || was.Reason != s.Reason {
			Log(ctx, object).Info("status changed", "type", s.Type, "status", s.Status, "reason", s.Reason, "message", s.Message)
		}
	}
	return after, nil
}

// Latest returns an object with the last status that was written to it, where the cache that it is from does not show that yet. What becomes of a
// status, such as the time of a transition, depends on what it was.
func (w StatusWriter[T, S]) Latest(object T) T {
	last, ok := w.Memory.unseen(object)
	if !ok {
		return object
	}
	latest := object.DeepCopyObject().(T)
	*w.Status(latest) = last.status
	return latest.DeepCopyObject().(T) // what is remembered is not handed out
}

// Stale reports whether an object, from a cache, is older than the last status that was written to it. An event follows.
func (m *StatusMemory[S]) Stale(object client.Object) bool {
	last, ok := m.unseen(object)
	return ok && last.version != last.over
}

// Forget drops what is remembered of an object that does not exist.
func (m *StatusMemory[S]) Forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.last, key)
}

// unseen returns the last write to an object, unless the object shows it: then it is forgotten. A write that changed nothing makes no version, and
// is never seen.
func (m *StatusMemory[S]) unseen(object client.Object) (last statusWrite[S], ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, version := client.ObjectKeyFromObject(object), object.GetResourceVersion()
	if last, ok = m.last[key]; !ok || version == "" {
		return last, false
	}
	order, err := resourceversion.CompareResourceVersion(version, last.version)
	if last.uid == object.GetUID() && (version == last.over || err == nil && order < 0) {
		return last, true
	}
	delete(m.last, key)
	return last, false
}

// Remember notes a write to an object, with the status that it has since.
func (m *StatusMemory[S]) Remember(before, after client.Object, status S) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil {
		m.last = map[types.NamespacedName]statusWrite[S]{}
	}
	m.last[client.ObjectKeyFromObject(before)] = statusWrite[S]{uid: before.GetUID(), over: before.GetResourceVersion(), version: after.GetResourceVersion(), status: status}
}
