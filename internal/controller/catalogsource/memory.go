package catalogsource

import (
	"fmt"
	"sync"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"

	"k8s.io/apimachinery/pkg/types"
)

// memory is what the controller knows of each catalog between two looks.
type memory struct {
	mu    sync.Mutex
	known map[catalog.Ref]content
}

// recall returns what is known; when the spec asks for something else than was looked for, only the index is still of use.
func (m *memory) recall(ref catalog.Ref, source *v1alpha1.CatalogSource) (known content, seen bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, seen = m.known[ref]
	// What says which content is desired. An object that was deleted and made again is another.
	spec := source.Spec
	asked := fmt.Sprintf("%q %q %q %q %q %q", source.UID, spec.SourceType, spec.Image, spec.Address, spec.ConfigMap, spec.Secrets)
	if known.spec != asked {
		known = content{uid: known.uid, spec: asked, index: known.index, served: known.served, loaded: known.loaded, digest: known.digest, earlier: known.earlier,
			warnings: known.warnings, signatures: known.signatures, pod: known.pod, ran: known.ran, setAside: known.setAside}
	}
	return known, seen
}

func (m *memory) keep(ref catalog.Ref, known content) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[catalog.Ref]content{}
	}
	m.known[ref] = known
}

// forget returns the UID of the object that was known under a name; empty when there was none.
func (m *memory) forget(ref catalog.Ref) types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	uid := m.known[ref].uid
	delete(m.known, ref)
	return uid
}
