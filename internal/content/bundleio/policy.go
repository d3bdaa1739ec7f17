package bundleio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
)

// DefaultTimeout is how long one attempt to fetch a bundle may take.
const DefaultTimeout = 10 * time.Minute

// forever is what no deadline comes to: registries that fall silent are given up on long before.
const forever = 24 * time.Hour

// Policy says how patient the fetching of bundles is. Its zero value is the default.
type Policy struct {
	// Timeout bounds one attempt: 0 is that of the Unpacker, less than 0 is no bound.
	Timeout time.Duration
	// MinRetry is the shortest pause after an attempt that failed.
	MinRetry time.Duration
}

// limit is how long an attempt for the request may take.
func (u *Unpacker) limit(r Request) time.Duration {
	timeout := cmp.Or(r.Timeout, u.Timeout, DefaultTimeout)
	if timeout < 0 {
		return forever
	}
	return timeout
}

// PolicyOf reads the annotations of an OperatorGroup.
func PolicyOf(annotations map[string]string) (Policy, error) {
	timeout, given, err := duration(annotations, v1alpha1.BundleUnpackTimeoutAnnotation)
	if err != nil {
		return Policy{}, err
	}
	if given && timeout == 0 {
		timeout = -1
	}
	retry, _, err := duration(annotations, v1alpha1.BundleUnpackMinRetryIntervalAnnotation)
	if err != nil {
		return Policy{}, err
	}
	return Policy{Timeout: timeout, MinRetry: retry}, nil
}

func duration(annotations map[string]string, key string) (d time.Duration, given bool, _ error) {
	text, given := annotations[key]
	if !given {
		return 0, false, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, true, fmt.Errorf("annotation %s of the OperatorGroup is %.40q: it must be a duration such as 10m or 1h30m, and not less than 0; correct it or take it away",
			key, text)
	}
	return d, true, nil
}

// TimeoutError says that an attempt was broken off because it took too long.
type TimeoutError struct {
	Name     string
	After    time.Duration
	Progress string
	Err      error
}

// Error names the annotation that gives it more time.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("fetch bundle %s: not done after %s (%s): give it more time by annotation %s of the OperatorGroup, or use a registry that is nearer: %v",
		e.Name, e.After, e.Progress, v1alpha1.BundleUnpackTimeoutAnnotation, e.Err)
}

// Unwrap returns what the attempt was broken off with.
func (e *TimeoutError) Unwrap() error { return e.Err }

// ReasonOf is a word for why a bundle could not be fetched: DeadlineExceeded, what the registry's answer comes to, or InvalidBundle.
func ReasonOf(err error) string {
	var timeout *TimeoutError
	if errors.As(err, &timeout) || errors.Is(err, context.DeadlineExceeded) {
		return "DeadlineExceeded"
	}
	if kind := image.KindOf(err); kind != "" {
		return string(kind)
	}
	return "InvalidBundle"
}
