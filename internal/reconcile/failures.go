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
)

// Failures are of three kinds. A transient one (IsTransient) is about the connection to the cluster: the request is retried, and no status
// reports it. A terminal one (IsTerminal) is retried when something has changed. All others are retried and reported.

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

// IsTerminal reports whether an API server refused a request, so that the same request is refused again as long as nothing else changes. Of
// several failures all have to be such.
func IsTerminal(err error) bool { return All(err, refused) }

func refused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// All reports whether each of the failures that an error consists of is of a kind; false for nil.
func All(err error, kind func(error) bool) bool {
	causes := Causes(err)
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(e error) bool { return !kind(e) })
}
