package clustercatalog

import (
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
)

const (
	// slow is how long reading takes until the status reports that it is in progress: what is quick to read is reported in one write.
	slow = 3 * time.Second
	// refusedInterval is the time between two verifications of content that is refused, where no newer content is looked for.
	refusedInterval = 15 * time.Minute
)

// due is when the registry of a catalog is to be asked next, or its content to be verified again; false means not before something else changes.
// Secret is the sign of the pull secret now, and policy that of the signature policy.
func due(object *olmv1.ClusterCatalog, known content, secret int, policy string, now time.Time) (time.Time, bool) {
	interval, polls := pollInterval(object)
	failed, refused := known.problem != nil, image.IsUnverified(known.problem)
	if refused && !polls {
		interval = refusedInterval
	}
	schedule := catalogstore.Schedule{Last: known.looked, Failed: failed, Refused: refused, Attempts: known.attempts, Longest: catalogstore.LongestRetry,
		Interval: interval, Polls: polls && known.target.leads, Spread: 0.01, Name: object.Name}
	schedule.Verify = known.target.ref != "" && !(known.target.leads && check(object) != nil) && known.signatures.Due(policy, now)
	schedule.Tried = known.tried == policy && known.secret == secret
	schedule.Never = known.target.ref == "" || !schedule.Verify && failed && isTerminal(known.target.ref, known.problem)
	schedule.News = !schedule.Verify && failed && secret != known.secret // new credentials may be what was missing
	return schedule.Next()
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
