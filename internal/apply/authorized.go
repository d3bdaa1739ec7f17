package apply

import apierrors "k8s.io/apimachinery/pkg/api/errors"

// IsAuthorized reports whether the API server had judged the rights of the client, and found them sufficient, when it answered a write with err. It
// answers so only about the object itself. Other answers leave open what the client may do: it is unknown, has to come back later, or got none.
func IsAuthorized(err error) bool {
	return err == nil || apierrors.IsInvalid(err) || apierrors.IsConflict(err) || apierrors.IsBadRequest(err) || apierrors.IsAlreadyExists(err) ||
		IsTooLarge(err)
}
