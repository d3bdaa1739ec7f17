package apply

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// TestIsUnknownKind: only the answer that there is no such kind says so, whatever else went wrong beside it.
func TestIsUnknownKind(t *testing.T) {
	v1, v2 := schema.GroupVersion{Group: "example.com", Version: "v1"}, schema.GroupVersion{Group: "example.com", Version: "v2"}
	unknown := &meta.NoResourceMatchError{PartialResource: v1.WithResource("")}
	notFound := apierrors.NewNotFound(schema.GroupResource{}, "")
	away := apierrors.NewServiceUnavailable("no endpoints")
	discovery := func(failures apiutil.ErrResourceDiscoveryFailed) error { return fmt.Errorf("list: %w", &failures) }
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":                              {},
		"no kind":                              {&meta.NoKindMatchError{}, true},
		"no resource":                          {fmt.Errorf("list: %w", unknown), true},
		"no such path":                         {notFound, true},
		"no such object":                       {apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, "x"), false},
		"refused":                              {errors.New("connection refused"), false},
		"unavailable":                          {away, false},
		"each version is not found":            {discovery(apiutil.ErrResourceDiscoveryFailed{v1: unknown, v2: notFound}), true},
		"a version is unavailable":             {discovery(apiutil.ErrResourceDiscoveryFailed{v1: away}), false},
		"one is not found, one is unavailable": {discovery(apiutil.ErrResourceDiscoveryFailed{v1: unknown, v2: away}), false},
	} {
		if got := IsUnknownKind(tc.err); got != tc.want {
			t.Errorf("%s: %t, want %t (%v)", name, got, tc.want, tc.err)
		}
	}
}
