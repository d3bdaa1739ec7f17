package catalogsource

import "errors"

// cluster tells whether an error is about objects of the cluster, and not about a registry.
func cluster(err error) bool {
	return errors.As(err, &configMapError{}) || errors.As(err, &secretError{})
}
