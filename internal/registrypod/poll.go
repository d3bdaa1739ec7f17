package registrypod

import (
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

const (
	// LongestWait is the longest time between two looks at a catalog that polls; it is also the default interval.
	LongestWait = v1alpha1.DefaultRegistryPollDuration
	// UpdateWait is the time between two looks at the pod of an update that is not ready.
	UpdateWait = 30 * time.Second
	// shortestWait keeps a poll that is overdue, or a tiny interval, from becoming a hot loop.
	shortestWait = time.Second
)

// Interval is how often the image of a catalog is looked for; false is never.
func Interval(source *v1alpha1.CatalogSource) (time.Duration, bool) {
	strategy := source.Spec.UpdateStrategy
	if source.Spec.SourceType != v1alpha1.SourceTypeGrpc || source.Spec.Image == "" || strategy == nil ||
		strategy.RegistryPoll == nil || strategy.RegistryPoll.Interval == nil {
		return 0, false
	}
	return max(strategy.RegistryPoll.Interval.Duration, shortestWait), true
}

// Due tells whether it is time to look for a new image.
func Due(source *v1alpha1.CatalogSource, now time.Time) bool {
	interval, polls := Interval(source)
	return polls && now.After(nextPoll(source, interval))
}

// NextLook is how long to wait before the catalog is looked at again, without any jitter; false is until something changes. A long
// interval is waited for in parts, of which the last ends when the poll is due.
func NextLook(source *v1alpha1.CatalogSource, now time.Time) (time.Duration, bool) {
	interval, polls := Interval(source)
	if !polls {
		return 0, false
	}
	if interval <= LongestWait {
		return interval, true
	}
	return max(min(nextPoll(source, interval).Sub(now), LongestWait), shortestWait), true
}

// nextPoll is when the image is to be looked for next.
func nextPoll(source *v1alpha1.CatalogSource, interval time.Duration) time.Time {
	if last := source.Status.LatestImageRegistryPoll; last != nil && !last.IsZero() {
		return last.Add(interval)
	}
	return source.CreationTimestamp.Add(interval)
}
