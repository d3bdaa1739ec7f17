package clusterserviceversion

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"fairlead.dev/fairlead/internal/reconcile"
)

// refusal is a failure that trying again does not mend: something has to be changed by somebody first.
type refusal struct{ cause error }

func (r refusal) Error() string { return r.cause.Error() }

// Is lets the cause be found, but not be judged apart from the refusal.
func (r refusal) Is(target error) bool { return errors.Is(r.cause, target) }

func refused(err error) error { return refusal{err} }

// isOurRefusal says whether the failure came from what is asked for itself, not from the cluster.
func isOurRefusal(err error) bool {
	var r refusal
	return errors.As(err, &r)
}

// isRefusal says whether trying again is useless as long as nothing else changes. Of several failures all have to be such.
func isRefusal(err error) bool { return all(err, refuses) }

func refuses(err error) bool {
	return isOurRefusal(err) || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// isTransient says whether a failure tells nothing about what was asked for, only about the connection to the cluster, or
// that the namespace is being deleted. Of several failures all have to be such: one that does tell something is not to be
// hidden by the others.
func isTransient(err error) bool { return all(err, tellsNothing) }

func tellsNothing(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) ||
		apierrors.IsConflict(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || utilnet.IsConnectionRefused(err) ||
		utilnet.IsConnectionReset(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// all says whether each of the failures that an error consists of is of a kind.
func all(err error, kind func(error) bool) bool {
	causes := reconcile.Causes(err)
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(e error) bool { return !kind(e) })
}
