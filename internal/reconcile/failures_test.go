package reconcile

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestKindsOfFailures(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	unanswered := &url.Error{Op: "Get", URL: "https://10.0.0.1/api", Err: errors.New("connection refused")}
	caused := func(err *apierrors.StatusError, cause metav1.CauseType) error {
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: cause})
		return err
	}
	for name, test := range map[string]struct {
		err                 error
		transient, terminal bool
	}{
		"nothing":                    {nil, false, false},
		"no connection":              {fmt.Errorf("keep: %w", unanswered), true, false},
		"beside one that lasts":      {errors.Join(errors.New("belongs to another owner"), unanswered), false, false},
		"several":                    {errors.Join(fmt.Errorf("a: %w", unanswered), apierrors.NewConflict(services, "cat", nil)), true, false},
		"overloaded":                 {apierrors.NewTooManyRequests("later", 1), true, false},
		"starting":                   {apierrors.NewServiceUnavailable("later"), true, false},
		"no answer in time":          {apierrors.NewTimeoutError("later", 1), true, false},
		"no answer of etcd in time":  {apierrors.NewServerTimeout(services, "get", 1), true, false},
		"an outdated version":        {apierrors.NewConflict(services, "cat", nil), true, false},
		"another owner of a field":   {caused(apierrors.NewConflict(services, "cat", nil), metav1.CauseTypeFieldManagerConflict), false, false},
		"namespace is being deleted": {caused(apierrors.NewForbidden(services, "cat", nil), corev1.NamespaceTerminatingCause), true, true},
		"the manager stops":          {fmt.Errorf("read: %w", context.Canceled), true, false},
		"out of time":                {context.DeadlineExceeded, true, false},
		"forbidden":                  {apierrors.NewForbidden(services, "cat", nil), false, true},
		"invalid":                    {apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "cat", nil), false, true},
		"bad request":                {apierrors.NewBadRequest("no"), false, true},
		"too large":                  {apierrors.NewRequestEntityTooLargeError("no"), false, true},
		"refused by webhook":         {apierrors.NewInternalError(errors.New("webhook")), false, false},
		"no retry changes it":        {fmt.Errorf("write: %w", Terminal(errors.New("too large"))), false, true},
		"marked, and another":        {errors.Join(Terminal(errors.New("too large")), errors.New("other")), false, false},
		"another owner":              {errors.New("exists, and does not belong to it"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := IsTransient(test.err); got != test.transient {
				t.Errorf("transient: %t, want %t", got, test.transient)
			}
			if got := IsTerminal(test.err); got != test.terminal {
				t.Errorf("terminal: %t, want %t", got, test.terminal)
			}
		})
	}
}

// failures are several, with a text of their own.
type failures []error

func (f failures) Error() string {
	var texts []string
	for _, err := range f {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}

func (f failures) Unwrap() []error { return f }

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
		"one of two":                  {err: errors.Join(own, other), want: own.Error() + "\nother"},
		"both":                        {err: fmt.Errorf("write: %w", errors.Join(own, own))},
		"one of two that are wrapped": {err: fmt.Errorf("write: %w", errors.Join(own, other)), want: fmt.Sprintf("write: %v\nother", own)},
		"one of two with a context":   {err: fmt.Errorf("write a: %w, and b: %w", own, other), want: fmt.Sprintf("write a: %v, and b: other", own)},
		"both with a context":         {err: fmt.Errorf("write a: %w, and b: %w", own, own)},
		"one of a list":               {err: failures{own, other}, want: own.Error() + "; other"},
		"all of a list":               {err: failures{own, own}},
	} {
		got := ""
		if err := IgnoreSuperseded(tc.err, "things"); err != nil {
			got = err.Error()
		}
		must.Equal(t, name, got, tc.want)
	}
}
