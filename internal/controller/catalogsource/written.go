package catalogsource

import (
	"sync"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// written remembers the last status of each catalog that was written, and over which version of the object. A load that has ended makes
// the catalog be looked at again, often before the cache shows what was written then: that must not be written twice.
type written struct {
	mu   sync.Mutex
	last map[types.NamespacedName]writing
}

type writing struct {
	over   string // resource version
	status v1alpha1.CatalogSourceStatus
}

// repeats tells whether a status was written already over the version of the object that the cache still has.
func (w *written) repeats(before *v1alpha1.CatalogSource, status v1alpha1.CatalogSourceStatus) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ever := w.last[types.NamespacedName{Namespace: before.Namespace, Name: before.Name}]
	return ever && last.over == before.ResourceVersion && equality.Semantic.DeepEqual(last.status, status)
}

func (w *written) note(before *v1alpha1.CatalogSource, status v1alpha1.CatalogSourceStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[types.NamespacedName]writing{}
	}
	w.last[types.NamespacedName{Namespace: before.Namespace, Name: before.Name}] = writing{over: before.ResourceVersion, status: status}
}

func (w *written) forget(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, name)
}
