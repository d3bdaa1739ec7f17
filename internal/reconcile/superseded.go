package reconcile

import (
	"errors"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Superseded says whether an event follows a failed write by which its object is looked at again: the object, of one of the
// resources, which are watched, has changed since it was read; or its namespace is being deleted. Clusters answer a conflict
// for other causes too, such as a ResourceQuota that many writes count against at once, and of those no event tells. The
// error is one failure: of those that were joined, each is to be asked about.
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

// IgnoreSuperseded leaves out of an error what Overtaken tells. Where only a part of a failure is left, all of it is told.
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

// Causes are the failures that an error consists of, however they were joined and wrapped; none of nil.
func Causes(err error) []error {
	if err == nil {
		return nil
	}
	switch err.(type) { //nolint:errorlint // It is the wrapping itself that is taken apart here.
	case apierrors.APIStatus, *url.Error:
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
