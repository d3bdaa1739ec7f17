package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// removalPoll is how often is looked whether something is gone.
const removalPoll = 200 * time.Millisecond

// removalOwner is the field manager of what commands write for their users.
const removalOwner = client.FieldOwner("fairlead")

// Run carries the removal out, and returns when all that goes is gone. tell is called with each step that is done. What cannot be removed
// in the time of the context is an error that says what it waits for; a removal of what Again names continues.
func (r *Removal) Run(ctx context.Context, c client.Client, tell func(what string)) error {
	if r.API == "v0" { // so that nothing is installed or upgraded meanwhile
		if i := slices.IndexFunc(r.owners, func(o owner) bool { return o.Kind == "Subscription" }); i >= 0 {
			if err := remove(ctx, c, r.owners[i].Ref, r.owners[i].uid, tell); err != nil {
				return err
			}
		}
	}
	for i := range r.CRDs {
		if r.CRDs[i].operands {
			if err := r.CRDs[i].empty(ctx, c, tell); err != nil {
				return err
			}
		}
	}
	for i := range r.CRDs {
		if err := r.settle(ctx, c, &r.CRDs[i], tell); err != nil {
			return err
		}
	}
	if err := r.consent(ctx, c); err != nil {
		return err
	}
	for _, o := range r.owners {
		if err := remove(ctx, c, o.Ref, o.uid, tell); err != nil {
			return err
		}
	}
	for i := range r.CRDs {
		d := &r.CRDs[i]
		var err error
		if d.Goes && !d.named {
			// Look once more when the operator is gone, which may have taken minutes: the manager has kept a definition that got custom
			// resources by then. One that the user named goes.
			if _, err = d.look(ctx, c, tell); err != nil {
				err = fmt.Errorf("find out whether CustomResourceDefinition %s got custom resources while the operator went: %w; it stays, and kubectl delete crd removes it", d.Name, err)
			}
		}
		if err == nil && d.Goes {
			err = remove(ctx, c, Ref{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: crdKind.Kind, Name: d.Name}, d.uid, tell)
		}
		if err != nil {
			return err
		}
	}
	for _, ref := range r.last {
		if err := remove(ctx, c, ref, "", tell); err != nil {
			return err
		}
	}
	// Wait until what the manager and the garbage collector take away is gone.
	// What was deleted last may have been made again, for a component that a user labelled.
	left := slices.DeleteFunc(slices.Clone(r.Goes), func(ref Ref) bool { return slices.Contains(r.last, ref) })
	return WaitRemoval(ctx, func() (string, error) {
		for len(left) > 0 {
			ref, live := left[0], &metav1.PartialObjectMetadata{}
			live.SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
			err := c.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, live)
			switch {
			case err == nil:
				return ref.String() + " is still there", nil
			case !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err):
				return "", fmt.Errorf("look whether %s is gone: %w", ref, err)
			}
			left = left[1:]
		}
		return "", nil
	})
}

// Again is the name to give when a removal that was cut short is to go on: the Subscription goes first, and after that only the
// ClusterServiceVersion is there to be named, of several the one that goes last.
func (r *Removal) Again() string {
	for _, o := range slices.Backward(r.owners) {
		if o.Kind == "ClusterServiceVersion" {
			return o.Name
		}
	}
	return r.Operator.Name
}

// remove deletes an object, the one that was checked where its UID is known, and waits until it is gone.
func remove(ctx context.Context, c client.Client, ref Ref, uid types.UID, tell func(string)) error {
	var options []client.DeleteOption
	if uid != "" {
		options = append(options, client.Preconditions{UID: &uid})
	}
	err := c.Delete(ctx, ref.Object(), options...)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // a conflict: another object has the name by now
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", ref, err)
	}
	err = WaitRemoval(ctx, func() (string, error) {
		live := ref.Object()
		err := c.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, live)
		switch {
		case apierrors.IsNotFound(err) || err == nil && uid != "" && live.GetUID() != uid:
			return "", nil
		case err != nil:
			return "", err
		case len(live.GetFinalizers()) > 0:
			return fmt.Sprintf("%s waits for its finalizers %s: is the manager running?", ref, strings.Join(live.GetFinalizers(), ", ")), nil
		}
		return ref.String() + " is being deleted", nil
	})
	if err == nil {
		tell("deleted " + ref.String())
	}
	return err
}

// WaitRemoval returns when there is nothing left to wait for; at the end of the context it says what there was.
func WaitRemoval(ctx context.Context, left func() (string, error)) error {
	last := ""
	for {
		text, err := left()
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %s", ctx.Err(), last)
		case err != nil:
			return err
		case text == "":
			return nil
		}
		last = text
		select {
		case <-ctx.Done():
		case <-time.After(removalPoll):
		}
	}
}
