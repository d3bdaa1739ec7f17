package reconcile

import (
	"context"
	"errors"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Failures are of three kinds. A transient one (IsTransient) is about the connection to the cluster: the request is retried, and no status
// reports it. A terminal one (IsTerminal) fails again as long as nothing changes: its status says so, and the queue retries it unless Terminal
// marks it, because what an API server refuses may pass without an event. All others are retried and reported. A superseded write (Superseded) is
// followed by an event.

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
		return isMarked(err) || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
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

// IgnoreSuperseded returns nil for an error of which all failures are superseded, and any other error as it is.
func IgnoreSuperseded(err error, resources ...string) error {
	if All(err, func(err error) bool { return Superseded(err, resources...) }) {
		return nil
	}
	return err
}

// IsOutdated reports whether a write failed because its object has changed or is gone since it was read. Where the object is watched, an event follows.
func IsOutdated(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// Causes are the failures that an error consists of, however they were joined and wrapped; none of nil. What Terminal marks is one.
func Causes(err error) []error {
	if err == nil {
		return nil
	}
	switch err.(type) { //nolint:errorlint // It is the wrapping itself that is taken apart here.
	case apierrors.APIStatus, *url.Error, *terminalError:
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

// Result turns the result and the error of a pass into what the queue does next: the result where nothing failed; no retry, but a line in the log,
// where Terminal marks all failures; and otherwise a retry with back-off, whatever time the result has.
func Result(result reconcile.Result, err error) (reconcile.Result, error) {
	switch {
	case err == nil:
		return result, nil
	case All(err, isMarked):
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	return reconcile.Result{}, err
}

// Terminal marks an error that no retry changes: the request comes again when an object has changed.
func Terminal(err error) error { return &terminalError{err} }

// terminalError is what Terminal returns.
type terminalError struct{ error }

func (e *terminalError) Unwrap() error { return e.error }

func isMarked(err error) bool {
	var marked *terminalError
	return errors.As(err, &marked)
}
