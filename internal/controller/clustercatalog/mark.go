package clustercatalog

import (
	"context"
	"fmt"
	"slices"
	"sync"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// foreignFinalizer is what another implementation keeps a ClusterCatalog with. Nothing here needs one: whoever holds content of a catalog
// sees that the object is gone. It is taken away, because nobody else would.
const foreignFinalizer = olmv1.GroupName + "/delete-server-cache"

// mark gives a catalog the label with its name, by which extensions select it, where the name is not too long for a label, and takes away what would keep it from being deleted.
func (c *Controller) mark(ctx context.Context, object *olmv1.ClusterCatalog) error {
	deleted, kept := !object.DeletionTimestamp.IsZero(), slices.Contains(object.Finalizers, foreignFinalizer)
	labelled := object.Labels[olmv1.MetadataNameKey] == object.Name || len(object.Name) > validation.LabelValueMaxLength
	if !kept && (deleted || labelled) {
		return nil
	}
	changed := object.DeepCopy()
	changed.Finalizers = slices.DeleteFunc(changed.Finalizers, func(f string) bool { return f == foreignFinalizer })
	if !deleted && !labelled {
		if changed.Labels == nil {
			changed.Labels = map[string]string{}
		}
		changed.Labels[olmv1.MetadataNameKey] = object.Name
	}
	// A list is replaced as a whole: nobody's finalizer may get lost that was added meanwhile.
	patch := client.MergeFromWithOptions(object.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if !kept {
		patch = client.MergeFrom(object.DeepCopy())
	}
	if err := c.client.Patch(ctx, changed, patch, fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the label %s of ClusterCatalog %s: %w", olmv1.MetadataNameKey, object.Name, err)
	}
	*object = *changed
	return nil
}

func same(a, b olmv1.ClusterCatalogStatus) bool { return equality.Semantic.DeepEqual(a, b) }

// written remembers the last status of each catalog that was written, and over which version of the object. An attempt that has ended makes
// the catalog be looked at again, perhaps before the cache shows what was written then: that must not be written twice.
type written struct {
	mu   sync.Mutex
	last map[string]writing
}

type writing struct {
	over   string // resource version
	status olmv1.ClusterCatalogStatus
}

// repeats tells whether a status was written already over the version of the object that the cache still has.
func (w *written) repeats(before *olmv1.ClusterCatalog, status olmv1.ClusterCatalogStatus) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ever := w.last[before.Name]
	return ever && last.over == before.ResourceVersion && same(last.status, status)
}

func (w *written) note(before *olmv1.ClusterCatalog, status olmv1.ClusterCatalogStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[string]writing{}
	}
	w.last[before.Name] = writing{before.ResourceVersion, status}
}

func (w *written) forget(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, name)
}
