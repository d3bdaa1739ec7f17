package revision

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// UnreadableError says that what a revision refers to is there, and is no object.
type UnreadableError struct{ Err error }

// Error says why.
func (e *UnreadableError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *UnreadableError) Unwrap() error { return e.Err }

// Lost tells whether an error in reading a revision means that its content is not there any more, or not as it was: to try again helps only
// when somebody puts it back.
func Lost(err error) bool {
	return apierrors.IsNotFound(err) || errors.As(err, new(*BlockedError)) || errors.As(err, new(*UnreadableError))
}
