package reconcile

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Failures are of three kinds. A transient one (IsTransient) is about the connection to the cluster: the request is retried, and no status
// reports it. A terminal one (IsTerminal) is retried when something has changed. All others are retried and reported. What waits (Wait) is no
// failure, and a superseded write (Superseded) is followed by an event.

// IsTransient reports whether an error tells nothing about the object of a request: the API server did not answer, had no time, was asked
// with an outdated version, or deletes the namespace. Of several failures all have to be such: one that does tell something is not hidden
// by the others. A conflict about the ownership of fields is none, as it lasts.
func IsTransient(err error) bool {
	return All(err, func(err error) bool {
		var unanswered *url.Error
		return apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
			apierrors.IsConflict(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) ||
			apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) ||
			errors.As(err, &unanswered) || utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) ||
			errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	})
}

// IsTerminal reports whether an API server refused a request, so that the same request is refused again as long as nothing else changes, or an error
// is marked so. Of several failures all have to be such.
func IsTerminal(err error) bool {
	return All(err, func(err error) bool {
		var marked *markedError
		return errors.As(err, &marked) && marked.terminal || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
	})
}

// All reports whether each of the failures that an error consists of is of a kind; false for nil.
func All(err error, kind func(error) bool) bool {
	causes := Causes(err)
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(e error) bool { return !kind(e) })
}

// Superseded reports whether an event follows a failed write, by which its object is reconciled again: the object, of one of the resources, which
// are watched, has changed since it was read; or its namespace is being deleted. Clusters answer a conflict for other causes too, such as a
// ResourceQuota that many writes count against at once, and no event follows those. The error is one failure: each of joined ones is for another call.
func Superseded(err error, resources ...string) bool {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return true
	}
	var answer apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &answer) {
		return false
	}
	details := answer.Status().Details
	return details != nil && slices.Contains(resources, details.Kind)
}

// IgnoreSuperseded removes superseded failures from an error. Where only a part of a failure remains, all of it is returned.
func IgnoreSuperseded(err error, resources ...string) error {
	var rest []error
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			rest = append(rest, IgnoreSuperseded(e, resources...))
		}
		return errors.Join(rest...)
	}
	for _, cause := range Causes(err) {
		if !Superseded(cause, resources...) {
			return err
		}
	}
	return nil
}

// IsOutdated reports whether a write failed because its object has changed or is gone since it was read. Where the object is watched, an event follows.
func IsOutdated(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// Causes are the failures that an error consists of, however they were joined and wrapped; none of nil. What Wait and Terminal mark is one.
func Causes(err error) []error {
	if err == nil {
		return nil
	}
	switch err.(type) { //nolint:errorlint // It is the wrapping itself that is taken apart here.
	case apierrors.APIStatus, *url.Error, *markedError:
		return []error{err}
	}
	switch e := err.(type) { //nolint:errorlint // It is the wrapping itself that is taken apart here.
	case interface{ Unwrap() []error }:
		var out []error
		for _, part := range e.Unwrap() {
			out = append(out, Causes(part)...)
		}
		return out
	case interface{ Unwrap() error }:
		if inner := Causes(e.Unwrap()); len(inner) > 0 {
			return inner
		}
	}
	return []error{err}
}

// Result turns the error of a pass into what the queue does next: nothing about a terminal one, which is logged; the time of one that waits; and
// a retry with back-off for all others. Of several failures those decide that need the retry soonest.
func Result(result reconcile.Result, err error) (reconcile.Result, error) {
	var marked *markedError
	switch {
	case err == nil:
		return result, nil
	case All(err, func(err error) bool { return errors.As(err, &marked) && !marked.terminal }):
		for _, cause := range Causes(err) {
			if errors.As(cause, &marked) {
				result.RequeueAfter = Sooner(result.RequeueAfter, marked.after)
			}
		}
		return result, nil
	case All(err, func(err error) bool { return errors.As(err, &marked) && marked.terminal }):
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	return reconcile.Result{}, err
}

// markedError is what Wait and Terminal return.
type markedError struct {
	error
	terminal bool
	after    time.Duration
}

// Wait marks an error that is no failure: the pass ends until an event, or for a time that is not 0.
func Wait(err error, after time.Duration) error { return &markedError{error: err, after: after} }

// Terminal marks an error that no retry changes: the request comes again when an object has changed.
func Terminal(err error) error { return &markedError{error: err, terminal: true} }

func (e *markedError) Unwrap() error { return e.error }
