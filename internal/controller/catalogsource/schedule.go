package catalogsource

import (
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
)

const (
	// minimumPause keeps a short interval, or a clock that stands still, from becoming a hot loop.
	minimumPause = time.Second
	// firstRetry and longestRetry bound the time between attempts to get content that is not to be had.
	firstRetry   = 2 * time.Second
	longestRetry = 5 * time.Minute
	// longestLocalRetry is shorter, for what is missing in the cluster itself: nobody tells when it is created, and to ask costs little.
	longestLocalRetry = 30 * time.Second
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

// due is when the catalog is to be looked at next; false means not before something else changes.
func due(source *v1alpha1.CatalogSource, known content, seen signs) (time.Time, bool) {
	switch {
	case known.invalid != nil:
		return time.Time{}, false
	case seen.podded && seen.pod == "":
		// Its pod may never answer, because the image is the wrong one. A right one may be there by now, polls or not.
		interval, _ := pollInterval(source)
		return known.looked.Add(interval + jitter(source, interval)), known.noCatalog && known.index == nil
	case known.looked.IsZero() || seen.news(source, known):
		return time.Time{}, true
	case !seen.podded && known.signatures.Due(seen.policy, seen.now): // an image that is run is verified apart
		if known.problem != nil && known.tried == seen.policy {
			return known.looked.Add(retryAfter(known.problem, known.attempts)), true
		}
		return time.Time{}, true
	case image.IsUnverified(known.problem):
		interval, _ := pollInterval(source) // it stays refused until the policy changes, which is news, or the registry has a signature
		return known.looked.Add(interval + jitter(source, interval)), true
	case known.problem != nil:
		return known.looked.Add(retryAfter(known.problem, known.attempts)), true
	}
	interval, polls := pollInterval(source)
	return known.looked.Add(interval + jitter(source, interval)), polls
}

// news tells whether the catalog is worth a look before its time.
func (s signs) news(source *v1alpha1.CatalogSource, known content) bool {
	switch {
	case !isConfigMap(source) && s.secrets != known.secrets:
		return true
	case s.podded:
		return s.pod != known.pod && known.problem == nil || s.session > known.session
	case isConfigMap(source):
		read := ""
		if known.configMap != nil {
			read = known.configMap.ResourceVersion
		}
		// A ConfigMap that the cache has lost is gone, or is no longer marked as one to watch. Once that is a known problem, it is
		// asked for from time to time.
		return s.configMap != read && (s.configMap != "" || known.problem == nil)
	case isAddress(source):
		return s.session > known.session
	}
	return false
}

func retryAfter(problem error, attempts int) time.Duration {
	longest := longestRetry
	if errors.As(problem, &configMapError{}) || errors.As(problem, &secretError{}) {
		longest = longestLocalRetry
	}
	if attempts > 8 {
		return longest
	}
	return min(firstRetry<<max(attempts-1, 0), longest)
}

// offerRetry is the pause before another attempt to bring about by what clients reach the catalog.
func offerRetry(source *v1alpha1.CatalogSource, err error) time.Duration {
	if image.IsUnverified(err) {
		interval, _ := pollInterval(source)
		return interval
	}
	return serviceRetry
}

// pollInterval is how often the catalog is looked at: images only when that is asked for, registry servers in any case.
func pollInterval(source *v1alpha1.CatalogSource) (time.Duration, bool) {
	if isConfigMap(source) {
		return 0, false
	}
	strategy := source.Spec.UpdateStrategy
	if strategy == nil || strategy.RegistryPoll == nil || strategy.RegistryPoll.Interval == nil {
		return v1alpha1.DefaultRegistryPollDuration, isAddress(source)
	}
	switch wanted := strategy.RegistryPoll.Interval.Duration; {
	case wanted <= 0:
		return v1alpha1.DefaultRegistryPollDuration, true
	default:
		return max(wanted, minimumPause), true
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
	wanted := strategy.RegistryPoll.Interval.Duration
	if used, polls := pollInterval(source); polls && used != wanted {
		return fmt.Sprintf("spec.updateStrategy.registryPoll.interval is %s; %s is used instead: write %s or more", wanted, used, minimumPause)
	}
	return ""
}

// pollsImage tells whether the registry of an image is asked for newer content.
func pollsImage(source *v1alpha1.CatalogSource) bool {
	_, polls := pollInterval(source)
	return polls && source.Spec.Image != "" && !isConfigMap(source)
}

// jitter spreads catalogs with the same interval over a tenth of it, each always by the same amount.
func jitter(source *v1alpha1.CatalogSource, interval time.Duration) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(source.Namespace + "/" + source.Name))
	return time.Duration(float64(interval) * 0.1 * float64(h.Sum32()%1000) / 1000)
}
