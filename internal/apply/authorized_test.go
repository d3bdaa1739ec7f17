package apply

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestIsAuthorized: only an answer about the object proves that the rights suffice. A token of a deleted account, an API server without time and a
// lost connection prove nothing.
func TestIsAuthorized(t *testing.T) {
	things := schema.GroupResource{Resource: "things"}
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"done":               {nil, true},
		"invalid":            {apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, "t", nil), true},
		"a conflict":         {fmt.Errorf("write it: %w", apierrors.NewConflict(things, "t", errors.New("changed"))), true},
		"there already":      {apierrors.NewAlreadyExists(things, "t"), true},
		"malformed":          {apierrors.NewBadRequest("no"), true},
		"too large":          {apierrors.NewRequestEntityTooLargeError("limit"), true},
		"forbidden":          {apierrors.NewForbidden(things, "t", errors.New("no")), false},
		"an old token":       {apierrors.NewUnauthorized("no"), false},
		"too many requests":  {apierrors.NewTooManyRequests("later", 1), false},
		"a timeout":          {apierrors.NewTimeoutError("late", 1), false},
		"an internal error":  {apierrors.NewInternalError(errors.New("no")), false},
		"no connection":      {errors.New("connection refused"), false},
		"no such kind":       {apierrors.NewNotFound(things, "t"), false},
		"server unavailable": {apierrors.NewServiceUnavailable("later"), false},
	} {
		if got := IsAuthorized(test.err); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
