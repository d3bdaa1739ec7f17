package rollout

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"fairlead.dev/fairlead/test/must"
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
		must.Equal(t, name, IsAuthorized(test.err), test.want)
	}
}

func TestIsTooLarge(t *testing.T) {
	status := func(message string) error { return &apierrors.StatusError{ErrStatus: metav1.Status{Message: message}} }
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":                  {nil, false},
		"the API server":           {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), true},
		"etcd":                     {status("etcdserver: request is too large"), true},
		"the client of etcd":       {fmt.Errorf("create it: %w", status("rpc error: code = ResourceExhausted desc = trying to send message larger than max (2250493 vs. 2097152)")), true},
		"words that are no answer": {errors.New("etcdserver: request is too large"), false},
		"another answer":           {status("etcdserver: leader changed"), false},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "is too large", IsTooLarge(tc.err), tc.want)
		})
	}
}

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
		must.Equal(t, name, IsUnknownKind(tc.err), tc.want)
	}
}

func TestFailuresAreBounded(t *testing.T) {
	var f Failures
	for i := range 8 {
		f = append(f, fmt.Errorf("no %d %s", i, strings.Repeat("é", failureLength)))
	}
	f[7] = io.ErrUnexpectedEOF
	text := f.Error()
	if len(text) > failuresShown*(failureLength+10)+20 || !strings.HasSuffix(text, "; and 3 more") || !strings.Contains(text, "no 4") {
		t.Errorf("%d bytes: %.40s ... %s", len(text), text, text[len(text)-20:])
	}
	if !errors.Is(f, io.ErrUnexpectedEOF) {
		t.Error("an error that is not shown cannot be found")
	}
}

func TestUnknownKinds(t *testing.T) {
	noMatch := &meta.NoKindMatchError{GroupKind: kinds["Deployment"].GroupKind()}
	tests := map[string]struct {
		err  error
		want bool
	}{
		"no mapping":               {noMatch, true},
		"no such resource":         {apierrors.NewGenericServerResponse(404, "POST", kindResource, "", "", 0, true), true},
		"no such namespace":        {apierrors.NewNotFound(kindResource, "ns"), false},
		"anything else":            {io.ErrUnexpectedEOF, false},
		"forbidden without a name": {apierrors.NewForbidden(kindResource, "", io.EOF), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := &task{Object: Object{Wanted: configMap("a", "1")}}
			k.fail("create", tc.err)
			var unknown *UnknownKindError
			if got := errors.As(k.result.Err, &unknown); got != tc.want || !errors.Is(k.result.Err, tc.err) {
				t.Errorf("%v", k.result.Err)
			}
		})
	}
}
