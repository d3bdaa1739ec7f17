package revision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
)

// UnreadableError says that what a revision refers to is there, and is no object.
type UnreadableError struct{ error }

// Unwrap returns why.
func (e *UnreadableError) Unwrap() error { return e.error }

// Lost reports whether an error in reading a revision means that its content is not there any more, or not as it was: to try again helps only
// when a person puts it back.
func Lost(err error) bool {
	return apierrors.IsNotFound(err) || errors.As(err, new(*BlockedError)) || errors.As(err, new(*UnreadableError))
}

// secretError says which Secret was not read.
type secretError struct {
	error
	name types.NamespacedName
}

func (e *secretError) Unwrap() error { return e.error }

// Losses says what of the content of a revision is lost, each Secret that is not there once; nothing is lost when all of it can be read. An
// error is what stands in the way of finding that out.
func Losses(ctx context.Context, reader client.Reader, set *olmv1.ClusterObjectSet) ([]string, error) {
	l := NewLoader(reader, set, "")
	gone := map[types.NamespacedName]bool{}
	var all []string
	for i := range set.Spec.Phases {
		for j := range set.Spec.Phases[i].Objects {
			o := &set.Spec.Phases[i].Objects[j]
			if o.Ref != nil && gone[types.NamespacedName{Namespace: o.Ref.Namespace, Name: o.Ref.Name}] {
				continue
			}
			_, err := l.object(ctx, o)
			if err == nil {
				continue
			}
			if !Lost(err) {
				return all, fmt.Errorf("read the content of revision %s: %w", set.Name, err)
			}
			text := err.Error()
			if secret := (*secretError)(nil); errors.As(err, &secret) {
				gone[secret.name] = true
				text = fmt.Sprintf("Secret %s is not there", secret.name)
			}
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all, nil
}

// Restore is what to do about content that is lost.
const Restore = "put back what is missing as it was, from a backup"

// LostContentError is that the content of a revision is lost, which Objects met.
type LostContentError struct{ Losses []string }

// Error says what is missing.
func (e *LostContentError) Error() string {
	return "its content is lost: " + strings.Join(e.Losses, "; ")
}

// Content is Objects, and looks for all that is missing when something is.
func Content(ctx context.Context, reader client.Reader, set *olmv1.ClusterObjectSet) ([]*unstructured.Unstructured, error) {
	objects, err := Objects(ctx, reader, set)
	if err == nil || !Lost(err) {
		return objects, err
	}
	losses, unknown := Losses(ctx, reader, set)
	if unknown != nil || len(losses) == 0 { // it has come back, or others are in the way now
		return nil, err
	}
	return nil, &LostContentError{losses}
}
