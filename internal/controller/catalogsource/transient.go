package catalogsource

import (
	"context"
	"errors"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// transient tells whether an API server that comes and goes explains an error about its objects. The attempt is repeated, and nobody is told:
// a status that can be written is no proof of the trouble any more.
func transient(err error) bool {
	var connection *url.Error
	if errors.As(err, &connection) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonServiceUnavailable, metav1.StatusReasonServerTimeout, metav1.StatusReasonTimeout, metav1.StatusReasonTooManyRequests, metav1.StatusReasonConflict:
		return true
	}
	return false
}

// cluster tells whether an error is about objects of the cluster, and not about a registry.
func cluster(err error) bool {
	return errors.As(err, &configMapError{}) || errors.As(err, &secretError{})
}
