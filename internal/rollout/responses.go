package rollout

import (
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IsAuthorized reports whether the API server had judged the rights of the client, and found them sufficient, when it answered a write with err. It
// answers so only about the object itself. Other answers leave open what the client may do: it is unknown, has to come back later, or got none.
func IsAuthorized(err error) bool {
	return err == nil || apierrors.IsInvalid(err) || apierrors.IsConflict(err) || apierrors.IsBadRequest(err) || apierrors.IsAlreadyExists(err) ||
		IsTooLarge(err)
}

// tooLarge are the answers of etcd, which the API server passes on without a reason, to a request with an object that it does not take, and to one
// that it does not even read.
var tooLarge = []string{"etcdserver: request is too large", "trying to send message larger than max"}

// IsTooLarge reports whether an error of a write means that the object is larger than the API server or etcd takes. Another attempt comes to the same.
func IsTooLarge(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsRequestEntityTooLargeError(err) || errors.As(err, &status) &&
		slices.ContainsFunc(tooLarge, func(answer string) bool { return strings.Contains(status.Status().Message, answer) })
}
