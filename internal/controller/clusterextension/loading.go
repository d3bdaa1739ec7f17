package clusterextension

import (
	"fmt"
	"sync"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution"

	"k8s.io/apimachinery/pkg/api/meta"
)

// loadTimeout is for how long a catalog that was never read may matter before it has anything. Then it counts as one that cannot be read: an
// image that comes slowly must not hold up what other catalogs have.
const loadTimeout = 30 * time.Second

// loadings are since when catalogs are being loaded for the first time. A catalog that could not be read is not loading again, however often
// it is tried: what waits for it would come and go.
type loadings struct {
	mu    sync.Mutex
	since map[string]time.Time // zero for those that could not be read
}

// look says of the catalogs which of them are not to be waited for any more, and returns when the next one is not; zero when none is waited for.
func (l *loadings) look(catalogs []resolution.Catalog, now time.Time) (next time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := map[string]time.Time{}
	for i := range catalogs {
		c := &catalogs[i]
		if c.Disabled || c.Index != nil {
			continue
		}
		began, known := l.since[c.Name]
		switch {
		case c.Problem != "":
			began = time.Time{}
		case !known:
			began = now
		}
		since[c.Name] = began
		if c.Problem != "" {
			continue
		}
		left := began.Add(loadTimeout).Sub(now)
		switch {
		case began.IsZero():
			c.Problem = "it could not be read, and is being read again"
		case left <= 0:
			c.Problem = fmt.Sprintf("it has not been read within %s", loadTimeout)
		case next == 0 || left < next:
			next = left
		}
	}
	l.since = since
	return next
}

// waits reports whether an extension that has what it asks for leaves everything as it is, because a catalog that it selects is still being
// loaded. What its revision says is reported meanwhile; what catalogs have is not asked.
func (s *state) waits(in resolution.ExtensionRequest) bool {
	installed := s.revisions.Installed()
	if installed == nil || installed != s.revisions.Newest() {
		return false
	}
	is := meta.FindStatusCondition(s.ext.Status.Conditions, olmv1.TypeProgressing)
	decided := is != nil && is.ObservedGeneration == s.ext.Generation && olmv1.SeesAnnotations(s.ext)
	return decided && resolution.IsLoading(in)
}
