package reconcile

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestIgnoreSuperseded(t *testing.T) {
	conflict := func(resource string) error {
		return apierrors.NewConflict(schema.GroupResource{Resource: resource}, "x", errors.New("modified"))
	}
	own, quota, other := conflict("things"), conflict("resourcequotas"), errors.New("other")
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"nothing":                     {},
		"the object has changed":      {err: fmt.Errorf("write: %w", own)},
		"a quota is contended":        {err: fmt.Errorf("write: %w", quota), want: "write: " + quota.Error()},
		"one of two":                  {err: errors.Join(own, other), want: "other"},
		"both":                        {err: fmt.Errorf("write: %w", errors.Join(own, own))},
		"one of two that are wrapped": {err: fmt.Errorf("write: %w", errors.Join(own, other)), want: fmt.Sprintf("write: %v\nother", own)},
	} {
		got := ""
		if err := IgnoreSuperseded(tc.err, "things"); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
