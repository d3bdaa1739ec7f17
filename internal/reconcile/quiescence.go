package reconcile

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

const (
	// QuietPeriod is how long anything is put off after the last change of an operator's status.
	QuietPeriod = 10 * time.Second
	// MaxQuietWait is how long it is put off while others are being installed and get on with it.
	MaxQuietWait = 30 * time.Second
	// StatusInterval bounds how often progress is written: within the five seconds in which users are informed. That something waits, and what is
	// decided, is written at once.
	StatusInterval = 4 * time.Second
	// recheck is when to ask again while other operators are being installed.
	recheck = time.Second
)

// UntilQuiet is how long to wait before what follows the installation of an operator is written; 0 or less is now. The others are read only where
// they matter. An operator that is stalled delays nothing for longer than QuietPeriod, and no number of others for longer than MaxQuietWait.
func UntilQuiet(csv *v1alpha1.ClusterServiceVersion, now time.Time, others func() ([]v1alpha1.ClusterServiceVersion, error)) (time.Duration, error) {
	silent := quietFor(csv, now)
	if !csv.Status.Settled() {
		return QuietPeriod - silent, nil
	}
	left := MaxQuietWait - silent
	if left <= 0 {
		return left, nil
	}
	all, err := others()
	if err != nil {
		return 0, err
	}
	for i := range all {
		if InProgress(&all[i], now) {
			return min(left, recheck), nil
		}
	}
	return 0, nil
}

// ListOperators lists all operators, from a cache whose objects no one may change.
func ListOperators(ctx context.Context, cache client.Reader) func() ([]v1alpha1.ClusterServiceVersion, error) {
	return func() ([]v1alpha1.ClusterServiceVersion, error) {
		var list v1alpha1.ClusterServiceVersionList
		if err := cache.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list the ClusterServiceVersions: %w", err)
		}
		return list.Items, nil
	}
}

// InProgress reports whether an operator is being installed, exchanged or removed, and gets on with it.
func InProgress(csv *v1alpha1.ClusterServiceVersion, now time.Time) bool {
	return !csv.IsCopied() && !csv.Status.Settled() && quietFor(csv, now) < QuietPeriod
}

// quietFor is for how long the status of an operator has not changed. Where that would be in the future, the clocks of two machines disagree, and
// no one can tell: then it is taken for at rest.
func quietFor(csv *v1alpha1.ClusterServiceVersion, now time.Time) time.Duration {
	at := csv.CreationTimestamp.Time
	if t := csv.Status.LastUpdateTime; t != nil && t.After(at) {
		at = t.Time
	}
	if d := now.Sub(at); d > -QuietPeriod {
		return max(d, 0)
	}
	return MaxQuietWait
}
