package clustercatalog

import (
	"hash/fnv"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
)

const (
	// firstRetry and longestRetry bound the time between attempts to get content that is not to be had.
	firstRetry   = 2 * time.Second
	longestRetry = 5 * time.Minute
	// minimumPause keeps a clock that stands still from becoming a hot loop.
	minimumPause = time.Second
	// slow is how long reading takes until the status says that it is going on: what is quick to read is reported in one write.
	slow = 3 * time.Second
	// refusedInterval is the time between two verifications of content that is refused, where no newer content is looked for.
	refusedInterval = 15 * time.Minute
)

// due is when the registry of a catalog is to be asked next; false means not before something else changes. Secret is the sign of the pull
// secret now.
func due(object *olmv1.ClusterCatalog, known content, secret int) (time.Time, bool) {
	switch {
	case known.target.ref == "":
		return time.Time{}, false
	case known.problem != nil && isTerminal(known.target.ref, known.problem):
		return time.Time{}, false
	case known.problem != nil && secret != known.secret:
		return time.Time{}, true // new credentials may be what was missing
	case image.IsUnverified(known.problem):
		return known.looked.Add(refusedRetry(object)), true // a change of the policy comes first
	case known.problem != nil:
		return known.looked.Add(retryAfter(known.attempts)), true
	case known.looked.IsZero():
		return time.Time{}, true
	}
	interval, polls := pollInterval(object)
	return known.looked.Add(interval + jitter(object.Name, interval)), polls && known.target.leads
}

// refusedRetry is the pause before content that the signature policy refuses is verified again: it may have been signed since.
func refusedRetry(object *olmv1.ClusterCatalog) time.Duration {
	interval, polls := pollInterval(object)
	if !polls {
		interval = refusedInterval
	}
	return interval + jitter(object.Name, interval)
}

func retryAfter(attempts int) time.Duration {
	if attempts > 8 {
		return longestRetry
	}
	return min(firstRetry<<max(attempts-1, 0), longestRetry)
}

// pollInterval is how often newer content is looked for. There is none behind a digest.
func pollInterval(object *olmv1.ClusterCatalog) (time.Duration, bool) {
	source := object.Spec.Source.Image
	if source == nil || source.PollIntervalMinutes == nil || *source.PollIntervalMinutes < 1 || pinned(source.Ref) {
		return 0, false
	}
	return time.Duration(min(*source.PollIntervalMinutes, maxPollMinutes)) * time.Minute, true
}

// maxPollMinutes keeps an interval within what a duration can be: a year.
const maxPollMinutes = 365 * 24 * 60

// jitter spreads catalogs with the same interval over a hundredth of it, each always by the same amount.
func jitter(name string, interval time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash never fails
	return time.Duration(float64(interval) * 0.01 * float64(h.Sum32()%1000) / 1000)
}
