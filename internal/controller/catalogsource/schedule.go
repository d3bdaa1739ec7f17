package catalogsource

import (
	"hash/fnv"
	"sync"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/catalogset"
)

const (
	// minimumPause keeps a short interval, or a clock that stands still, from becoming a hot loop.
	minimumPause = time.Second
	// firstRetry and longestRetry bound the time between attempts to get content that is not to be had.
	firstRetry   = 2 * time.Second
	longestRetry = 5 * time.Minute
)

// content is what is known of a catalog from looking at its image.
type content struct {
	spec     string // what was asked for: a change makes everything else void but the index
	index    *catalog.Index
	loaded   time.Time // when the index was made
	digest   string    // of the image that the index was made from
	warnings string    // what is wrong in a catalog that is served all the same
	invalid  error     // the spec cannot be acted on; nothing is retried until it changes
	problem  error     // why the wanted content is not there
	attempts int       // failures in a row
	looked   time.Time // when the image was last looked at
}

// entry is what the rest of the program gets to see.
func (k content) entry() catalogset.Entry {
	e := catalogset.Entry{Index: k.index}
	switch {
	case k.invalid != nil:
		e.Problem = k.invalid.Error()
	case k.problem != nil:
		e.Problem = k.problem.Error()
	}
	return e
}

// due is when the catalog is to be looked at next; false means not before its spec changes.
func due(source *v1alpha1.CatalogSource, known content) (time.Time, bool) {
	switch {
	case known.invalid != nil:
		return time.Time{}, false
	case known.looked.IsZero():
		return time.Time{}, true
	case known.problem != nil:
		return known.looked.Add(retryAfter(known.attempts)), true
	}
	interval, polls := pollInterval(source)
	return known.looked.Add(interval + jitter(source, interval)), polls
}

func retryAfter(attempts int) time.Duration {
	if attempts > 8 {
		return longestRetry
	}
	return min(firstRetry<<max(attempts-1, 0), longestRetry)
}

// pollInterval is how often the image is looked at; images named by digest never change.
func pollInterval(source *v1alpha1.CatalogSource) (time.Duration, bool) {
	strategy := source.Spec.UpdateStrategy
	if strategy == nil || strategy.RegistryPoll == nil || strategy.RegistryPoll.Interval == nil || source.Spec.Image == "" {
		return 0, false
	}
	return max(strategy.RegistryPoll.Interval.Duration, minimumPause), true
}

// jitter spreads catalogs with the same interval over a tenth of it, each always by the same amount.
func jitter(source *v1alpha1.CatalogSource, interval time.Duration) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(source.Namespace + "/" + source.Name))
	return time.Duration(float64(interval) * 0.1 * float64(h.Sum32()%1000) / 1000)
}

// memory is what the controller knows of each catalog between two looks.
type memory struct {
	mu    sync.Mutex
	known map[catalogset.Ref]content
}

// recall returns what is known; when the spec asks for something else than was looked for, only the index is still of use.
func (m *memory) recall(ref catalogset.Ref, source *v1alpha1.CatalogSource) content {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.known[ref]
	if asked := fingerprint(source); known.spec != asked {
		known = content{spec: asked, index: known.index, loaded: known.loaded, digest: known.digest}
	}
	return known
}

func (m *memory) keep(ref catalogset.Ref, known content) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[catalogset.Ref]content{}
	}
	m.known[ref] = known
}

func (m *memory) forget(ref catalogset.Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, ref)
}
