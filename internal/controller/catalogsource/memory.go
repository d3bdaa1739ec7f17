package catalogsource

import (
	"sync"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/catalogset"
)

// memory is what the controller knows of each catalog between two looks.
type memory struct {
	mu    sync.Mutex
	known map[catalogset.Ref]content
}

// recall returns what is known; when the spec asks for something else than was looked for, only the index is still of use.
func (m *memory) recall(ref catalogset.Ref, source *v1alpha1.CatalogSource) (known content, seen bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, seen = m.known[ref]
	if asked := fingerprint(source); known.spec != asked {
		known = content{spec: asked, index: known.index, loaded: known.loaded, digest: known.digest, warnings: known.warnings}
	}
	return known, seen
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
