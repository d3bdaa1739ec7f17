package crd

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keepsAll refuses to rewrite objects that would lose fields by it. What the API server gives of them is without these fields already,
// so it is their managed fields that tell. An object that somebody has written since the versions of the CRD were last changed is stored
// as it should be: it has nothing more to lose.
func (m Migration) keepsAll(list *metav1.PartialObjectMetadataList) error {
	if converts(m.Live) {
		return nil // the webhook knows where everything goes
	}
	failed := &LossError{Why: m.Why(), Storage: StorageVersion(m.Live)}
	for _, version := range m.Leaving {
		pruning, err := NewPruning(m.Live, version, m.Live, failed.Storage)
		if err != nil {
			return err
		}
		for i := range list.Items {
			object := &list.Items[i]
			if pruning == nil || m.writtenSince(object) {
				continue
			}
			fields, err := pruning.LostByRecord(object.ManagedFields, m.Live.Spec.Group+"/"+version)
			if err != nil {
				return fmt.Errorf("find out what %s %s loses: %w", m.Live.Spec.Names.Kind, nameOf(object), err)
			}
			failed.add(object, fields)
		}
	}
	if failed.Count == 0 {
		return nil
	}
	return failed
}

// writtenSince tells whether an object was written by an API server that must have known which version to store it in.
func (m Migration) writtenSince(object *metav1.PartialObjectMetadata) bool {
	changed := versionsChanged(m.Live)
	if changed.IsZero() {
		return false
	}
	for _, entry := range object.ManagedFields {
		if entry.Time != nil && entry.Time.After(changed.Add(settleTime)) {
			return true
		}
	}
	return false
}

// LossError says which objects would lose fields if they were rewritten.
type LossError struct {
	// Why objects are rewritten at all.
	Why string
	// Storage is the version that does not know the fields.
	Storage string
	// Objects are the first of them, with their fields, and Count is how many of a page there are.
	Objects []Loss
	Count   int
}

func (e *LossError) add(object *metav1.PartialObjectMetadata, fields []string) {
	if len(fields) == 0 {
		return
	}
	if e.Count++; len(e.Objects) < sampled {
		e.Objects = append(e.Objects, Loss{object.Namespace, object.Name, fields})
	}
}

// Error names the objects and their fields, and says what to do.
func (e *LossError) Error() string {
	var texts []string
	for _, o := range e.Objects {
		texts = append(texts, o.String())
	}
	if more := e.Count - len(e.Objects); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s must be rewritten as %s, which does not know fields that were set: %s; to keep them, set served: true for the version "+
		"once more, move what the fields hold, and set it to false again; to give them up, write each of these objects once, such as by an annotation",
		e.Why, e.Storage, strings.Join(texts, "; "))
}
