package catalogsource

import (
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
)

// signs are what may show, without looking, that there is something new.
type signs struct {
	// configMap is the version of the ConfigMap as the cache has it; empty when it has none.
	configMap string
	// secrets grows when a Secret changes that the spec names.
	secrets int
	// session is the connection to the registry server; 0 when there is none.
	session int
	// podded says that the catalog is served by a pod, and pod which one answers; empty is none.
	podded bool
	pod    string
	// policy identifies the signature policy, at the time now.
	policy string
	now    time.Time
}

// due is when the catalog is to be read next; false means not before something else changes.
func due(source *v1alpha1.CatalogSource, known content, seen signs) (time.Time, bool) {
	interval, polls := pollInterval(source)
	longest := catalogstore.LongestRetry
	if cluster(known.problem) {
		longest = catalogstore.LongestLocalRetry
	}
	schedule := catalogstore.Schedule{Last: known.looked, Never: known.invalid != nil, Failed: known.problem != nil, Attempts: known.attempts, Longest: longest,
		Refused: image.IsUnverified(known.problem), Interval: interval, Polls: polls, Spread: 0.1, Name: source.Namespace + "/" + source.Name}
	if seen.podded && seen.pod == "" {
		// Its pod may never answer, because the image is the wrong one. A right one may be there by now, polls or not.
		schedule.Never = schedule.Never || !known.noCatalog || known.index != nil
		schedule.Failed, schedule.Refused, schedule.Polls = false, false, true
		return schedule.Next()
	}
	schedule.News = seen.news(source, known)
	schedule.Verify = !seen.podded && known.signatures.Due(seen.policy, seen.now) // an image that is run is verified apart
	schedule.Tried = known.tried == seen.policy
	return schedule.Next()
}

// news reports whether the catalog is worth a look before its time.
func (s signs) news(source *v1alpha1.CatalogSource, known content) bool {
	switch {
	case !isConfigMap(source) && s.secrets != known.secrets:
		return true
	case s.podded:
		return s.pod != known.pod && known.problem == nil || s.reconnected(known)
	case isConfigMap(source):
		read := ""
		if known.configMap != nil {
			read = known.configMap.ResourceVersion
		}
		// A ConfigMap that the cache has lost is gone, or is no longer marked as one to watch. Once that is a known problem, it is
		// asked for from time to time.
		return s.configMap != read && (s.configMap != "" || known.problem == nil)
	case isAddress(source):
		return s.reconnected(known)
	}
	return false
}

// reconnected reports whether the registry server was reached again since a read began: one that fails is repeated after a pause.
func (s signs) reconnected(known content) bool { return s.session > max(known.session, known.reread) }

// offerRetry is the pause before another attempt to bring about by what clients reach the catalog.
func offerRetry(source *v1alpha1.CatalogSource, err error) time.Duration {
	if image.IsUnverified(err) {
		interval, _ := pollInterval(source)
		return interval
	}
	return serviceRetry
}

// pollInterval is how often the catalog is reconciled: images only when that is asked for, registry servers in any case.
func pollInterval(source *v1alpha1.CatalogSource) (time.Duration, bool) {
	if isConfigMap(source) {
		return 0, false
	}
	strategy := source.Spec.UpdateStrategy
	if strategy == nil || strategy.RegistryPoll == nil || strategy.RegistryPoll.Interval == nil {
		return v1alpha1.DefaultRegistryPollDuration, isAddress(source)
	}
	switch desired := strategy.RegistryPoll.Interval.Duration; {
	case desired <= 0:
		return v1alpha1.DefaultRegistryPollDuration, true
	default:
		return max(desired, catalogstore.MinimumPause), true
	}
}

// intervalProblem says what is wrong with the interval of polls, and what is done instead; empty when nothing is.
func intervalProblem(source *v1alpha1.CatalogSource) string {
	strategy := source.Spec.UpdateStrategy
	if strategy == nil || strategy.RegistryPoll == nil {
		return ""
	}
	if poll := strategy.RegistryPoll; poll.ParsingError != "" || poll.Interval == nil {
		return poll.ParsingError
	}
	desired := strategy.RegistryPoll.Interval.Duration
	if used, polls := pollInterval(source); polls && used != desired {
		return fmt.Sprintf("spec.updateStrategy.registryPoll.interval is %s; %s is used instead: write %s or more", desired, used, catalogstore.MinimumPause)
	}
	return ""
}

// pollsImage reports whether the registry of an image is asked for newer content.
func pollsImage(source *v1alpha1.CatalogSource) bool {
	_, polls := pollInterval(source)
	return polls && source.Spec.Image != "" && !isConfigMap(source)
}
