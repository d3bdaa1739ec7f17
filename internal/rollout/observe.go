package rollout

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// observation is what a task knows of its object before it writes.
type observation struct {
	seen    bool                       // the API server has answered
	wanted  *unstructured.Unstructured // what will be written
	live    *unstructured.Unstructured // what is there; nil is nothing
	blocked bool                       // the object is going away: nothing can be done until it is gone
	left    bool                       // the object is another's to write
}

// observe reads the object and decides whether it may be written. A kind that the API server does not know is not an error yet:
// an earlier phase may bring it.
func (t *task) observe(ctx context.Context) {
	t.observation = observation{wanted: clean(t.Wanted)}
	t.result.Err, t.result.Waiting = nil, ""
	if t.Policy != Remove && (!t.Absent || t.exists) {
		live, err := t.read(ctx)
		if meta.IsNoMatchError(err) {
			return
		}
		if err != nil {
			t.fail("read", err)
			return
		}
		t.live, t.result.Live = live, live
	}
	t.seen = true
	if t.live != nil && t.live.GetDeletionTimestamp() != nil {
		t.blocked = true
		t.result.Waiting = fmt.Sprintf("%s is being deleted; it can be written when it is gone", t.result.Ref)
		return
	}
	if t.left = t.live != nil && t.Leave != nil && t.Leave(t.live); t.left {
		return
	}
	if t.live != nil && t.Policy != CreateOnly && t.Claim != nil {
		if claimant := t.Claim(t.live); claimant != "" {
			collision := &CollisionError{Ref: t.result.Ref, Owner: t.Owner, Claimant: claimant}
			if t.Remedy != nil {
				collision.Remedy = t.Remedy(t.live)
			}
			t.result.Err = collision
			return
		}
	}
	if t.Adjust != nil && t.Policy != Remove && (t.live == nil || t.Policy != CreateOnly) {
		t.result.Err = t.Adjust(t.wanted, t.live)
	}
}

// read returns the live object, or nil when there is none.
func (t *task) read(ctx context.Context) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(t.Wanted.GroupVersionKind())
	err := t.reader.Get(ctx, client.ObjectKeyFromObject(t.Wanted), live)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return live, nil
}

// IsUnknownKind reports whether an answer of the API server means that it does not serve the kind of an object. That it could not be asked
// for all that it serves means nothing of the kind, unless each answer was that there is no such group or version.
func IsUnknownKind(err error) bool {
	var discovery *apiutil.ErrResourceDiscoveryFailed
	if errors.As(err, &discovery) {
		for _, err := range *discovery {
			if !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
				return false
			}
		}
		return len(*discovery) > 0
	}
	return meta.IsNoMatchError(err) || servesNot(err)
}

// recheck looks again at an object that lacked something when it was written; that may have come by now.
func (t *task) recheck(ctx context.Context) {
	if t.result.Waiting == "" || t.blocked || t.Probe == nil {
		return
	}
	look := t.Look
	if look == nil {
		look = t.read
	}
	live, err := look(ctx)
	if err != nil || live == nil {
		return // the object was written; the next run will see what became of it
	}
	t.result.Waiting = t.probe(live)
}

func (t *task) probe(live *unstructured.Unstructured) string {
	if t.Probe == nil {
		return ""
	}
	if missing := t.Probe(live); missing != "" {
		return fmt.Sprintf("%s: %s", t.result.Ref, missing)
	}
	return ""
}

// fail records what was attempted and why it failed.
func (t *task) fail(verb string, err error) {
	t.result.Outcome = Failed
	if IsUnknownKind(err) {
		t.result.Err = &UnknownKindError{Ref: t.result.Ref, Err: err}
		return
	}
	t.result.Err = &RequestError{Verb: verb, Ref: t.result.Ref, Err: err}
}

// servesNot distinguishes the answer to a request for a resource that does not exist from that for an object that does not exist: only the
// latter has a name.
func servesNot(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || details.Name == ""
}
