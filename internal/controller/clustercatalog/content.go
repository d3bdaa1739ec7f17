package clustercatalog

import (
	"sync"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"

	"k8s.io/apimachinery/pkg/types"
)

// content is what is known of a catalog.
type content struct {
	uid types.UID
	// target is what was looked for last. Another one makes everything void that is said of looking for it, but not the content.
	target target

	index    *catalog.Index
	resolved string    // the image by digest that the index was made from
	earlier  bool      // another build of the program made the index, which may judge catalogs in another way
	unpacked time.Time // when the index was made

	reached  bool      // whether the content is what the target stood for when it was checked, also while newer content is being read
	problem  error     // why it is not
	attempts int       // failures in a row
	looked   time.Time // when an attempt last ended
	secret   int       // the sign of the pull secret then
	tried    string    // the signature policy when that attempt began

	signatures image.Content
	withheld   bool // of what is shown: there is content that is not
}

// after is what is known once an attempt has ended.
func (k content) after(found reading, err error, now time.Time) content {
	k.looked = now
	k.signatures = k.signatures.After(found.signatures, err)
	if err != nil {
		k.problem, k.reached = err, false
		k.attempts++
		return k
	}
	k.problem, k.attempts, k.reached, k.resolved = nil, 0, true, found.resolved
	if found.index != nil {
		k.index, k.earlier, k.unpacked = found.index, false, now
	}
	return k
}

// memory is what the controller knows of each catalog between two looks.
type memory struct {
	mu    sync.Mutex
	known map[string]content
}

func (m *memory) get(name string) (content, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.known[name]
	return known, ok
}

func (m *memory) keep(name string, known content) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]content{}
	}
	m.known[name] = known
}

func (m *memory) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, name)
}
