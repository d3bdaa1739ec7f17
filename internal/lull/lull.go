// Package lull tells when there is time for what follows the installation of an operator: copies of it, roles of its APIs, labels on its
// parts. Nobody waits for these, and each costs the API server as much as a step of the installation that is still going on, of the operator
// itself or of another one. It reads from caches at most, and knows no clock. Start reading at For.
package lull

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

const (
	// Pause is how long anything is put off after the last change of an operator's status.
	Pause = 10 * time.Second
	// Longest is how long it is put off while others are being installed and get on with it.
	Longest = 30 * time.Second
	// Words is how often it is written at most how far something is that waits: within the five seconds in which people are told. That it
	// waits, and what is decided, is written at once.
	Words = 4 * time.Second
	// again is when to ask again while other operators are being installed.
	again = time.Second
)

// For is how long to wait before what follows the installation of an operator is written; 0 or less is now. The others are read only where
// they matter. An operator that is stuck holds nothing up for longer than Pause, and no number of others for longer than Longest.
func For(csv *v1alpha1.ClusterServiceVersion, now time.Time, others func() ([]v1alpha1.ClusterServiceVersion, error)) (time.Duration, error) {
	silent := quiet(csv, now)
	if !csv.Status.Settled() {
		return Pause - silent, nil
	}
	left := Longest - silent
	if left <= 0 {
		return left, nil
	}
	all, err := others()
	if err != nil {
		return 0, err
	}
	for i := range all {
		if Changing(&all[i], now) {
			return min(left, again), nil
		}
	}
	return 0, nil
}

// Operators lists all operators, from a cache whose objects nobody may change.
func Operators(ctx context.Context, cache client.Reader) func() ([]v1alpha1.ClusterServiceVersion, error) {
	return func() ([]v1alpha1.ClusterServiceVersion, error) {
		var list v1alpha1.ClusterServiceVersionList
		if err := cache.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list the ClusterServiceVersions: %w", err)
		}
		return list.Items, nil
	}
}

// Changing says whether an operator is being installed, exchanged or removed, and gets on with it.
func Changing(csv *v1alpha1.ClusterServiceVersion, now time.Time) bool {
	return !csv.IsCopied() && !csv.Status.Settled() && quiet(csv, now) < Pause
}

// quiet is for how long the status of an operator has not changed. Where that would be in the future, the clocks of two machines disagree, and
// nobody can tell: then it is taken for at rest.
func quiet(csv *v1alpha1.ClusterServiceVersion, now time.Time) time.Duration {
	at := csv.CreationTimestamp.Time
	if t := csv.Status.LastUpdateTime; t != nil && t.After(at) {
		at = t.Time
	}
	if d := now.Sub(at); d > -Pause {
		return max(d, 0)
	}
	return Longest
}
