package crd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writers is how many objects are rewritten at once, and attempts how often one is tried that others write at the same time.
const (
	writers  = 8
	attempts = 4
)

// rewrite has the API server write every object of a page again. An empty patch does that when the stored bytes would come out
// differently, and else nothing at all.
func (m Migration) rewrite(ctx context.Context, list *metav1.PartialObjectMetadataList, version string) error {
	var (
		group  sync.WaitGroup
		slots  = make(chan struct{}, writers)
		failed = make([]error, len(list.Items))
	)
	for i := range list.Items {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			failed[i] = m.rewriteOne(ctx, client.ObjectKeyFromObject(&list.Items[i]), version)
		})
	}
	group.Wait()
	// Name the first objects that failed, and say how many there are.
	var names []string
	var first error
	for i, err := range failed {
		if err == nil {
			continue
		}
		names = append(names, nameIn(list.Items[i].Namespace, list.Items[i].Name))
		if first == nil {
			first = err
		}
	}
	if first == nil {
		return nil
	}
	return &RewriteError{Why: m.Why(), Objects: safetext.First(names, sampled, "and %d more"), Err: first}
}

// rewriteOne rewrites an object. An answer that it is gone is not trusted: webhooks that refuse a write may give any.
func (m Migration) rewriteOne(ctx context.Context, key client.ObjectKey, version string) error {
	var err error
	for range attempts {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(kindIn(m.Live, version))
		object.Namespace, object.Name = key.Namespace, key.Name
		err = m.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte("{}")), owner)
		if apierrors.IsNotFound(err) && apierrors.IsNotFound(m.Reader.Get(ctx, key, object)) {
			return nil
		}
		if !apierrors.IsConflict(err) {
			return err
		}
	}
	return err
}

// Why says which objects are rewritten, and because of what.
func (m Migration) Why() string {
	versions := strings.Join(m.Leaving, ", ")
	if m.Unconverted {
		return fmt.Sprintf("the new CustomResourceDefinition %s does without the webhook that converts its objects, so objects that may be stored as %s", m.Live.Name, versions)
	}
	return fmt.Sprintf("the new CustomResourceDefinition %s does not have version %s, so objects that may be stored in it", m.Live.Name, versions)
}

// RewriteError says which objects keep a version from going.
type RewriteError struct {
	// Why objects are rewritten at all.
	Why string
	// Objects are the first that could not be rewritten, and how many more there are.
	Objects []string
	// Err is why the first one could not.
	Err error
}

// Error names the objects, why they stand in the way, and what to do.
func (e *RewriteError) Error() string {
	return fmt.Sprintf("%s must be rewritten, but that fails for %s: %s; mend or delete these objects", e.Why, strings.Join(e.Objects, ", "), messages.Line(e.Err.Error(), maxText))
}

// Unwrap is the first cause.
func (e *RewriteError) Unwrap() error { return e.Err }

// errChanged says that the CRD is no longer what the migration began with.
var errChanged = errors.New("the CustomResourceDefinition has been changed meanwhile; the objects are read again")

// keepsAll refuses to rewrite objects that would lose fields by it. What the API server gives of them is without these fields already,
// so it is their managed fields that tell. An object that a user has written since the versions of the CRD were last changed is stored
// as it should be: it has nothing more to lose.
func (m Migration) keepsAll(list *metav1.PartialObjectMetadataList) error {
	if converts(m.Live) {
		return nil // the webhook knows where everything goes
	}
	changed := versionsChanged(m.Live)
	failed := &LossError{Why: m.Why(), Storage: StorageVersion(m.Live)}
	for _, version := range m.Leaving {
		pruning, err := NewPruning(m.Live, version, m.Live, failed.Storage)
		if err != nil {
			return err
		}
		for i := range list.Items {
			object := &list.Items[i]
			if pruning == nil || !changed.IsZero() && slices.ContainsFunc(object.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
				return entry.Time != nil && entry.Time.After(changed.Add(settleTime))
			}) {
				continue
			}
			fields, err := pruning.LostByRecord(object.ManagedFields, m.Live.Spec.Group+"/"+version)
			if err != nil {
				return fmt.Errorf("find out what %s %s loses: %w", m.Live.Spec.Names.Kind, nameIn(object.Namespace, object.Name), err)
			}
			if len(fields) == 0 {
				continue
			}
			if failed.Count++; len(failed.Objects) < sampled {
				failed.Objects = append(failed.Objects, Loss{object.Namespace, object.Name, fields})
			}
		}
	}
	if failed.Count == 0 {
		return nil
	}
	return failed
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

// Error names the objects and their fields, and says what to do.
func (e *LossError) Error() string {
	return fmt.Sprintf("%s must be rewritten as %s, which does not know fields that were set: %s; to keep them, set served: true for the version "+
		"once more, move what the fields hold, and set it to false again; to give them up, write each of these objects once, such as by an annotation",
		e.Why, e.Storage, safetext.Sample(texts(e.Objects), e.Count, "; "))
}
