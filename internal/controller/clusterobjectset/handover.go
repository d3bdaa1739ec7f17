package clusterobjectset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// handover passes objects on that a set does not keep: to an older revision, or to no owner.
type handover struct {
	*environment
	contents *contents
}

// giveBack gives back to the revision before this one what that is still to keep: a rollout that is given up must not take away what ran
// before it.
func (h *handover) giveBack(ctx context.Context, f *family, known *notes) error {
	older := f.older()
	if len(older) == 0 {
		return nil
	}
	heir := slices.MaxFunc(older, func(a, b *olmv1.ClusterObjectSet) int { return cmp.Compare(a.Spec.Revision, b.Spec.Revision) })
	phases, _, err := h.contents.read(ctx, heir)
	lost := err != nil && revision.Lost(err) // no one can tell any more what the heir is to keep
	if err != nil && !lost {
		return fmt.Errorf("give back to revision %s what it is to keep: %w", heir.Name, err)
	}
	keeps := map[rollout.Ref]bool{}
	for _, p := range phases {
		for _, o := range p.Objects {
			ref := rollout.RefOf(o.Unstructured)
			ref.Version = "" // in whatever version of its API the object is written
			keeps[ref] = true
		}
	}
	given := 0
	for _, p := range known.phases {
		for _, e := range p {
			ref := e.ref
			if ref.Version = ""; !lost && !keeps[ref] {
				continue
			}
			done, failed := h.bequeath(ctx, f.set, heir, e.ref)
			if failed != nil {
				return failed
			}
			if done {
				given++
			}
		}
	}
	if lost && given > 0 {
		h.events.Event(f.set, corev1.EventTypeWarning, reasonContentLost, messages.Event(fmt.Sprintf("The content of revision %s is lost, so it is not known which objects it has: "+
			"all %d objects of this revision are left to it, and go when it goes. %v", heir.Name, given, err)))
	}
	return nil
}

// bequeath makes another revision the controller of an object, if this one is. It reports whether it was.
func (h *handover) bequeath(ctx context.Context, from, to *olmv1.ClusterObjectSet, ref rollout.Ref) (done bool, _ error) {
	live := named(ref)
	err := h.live.Get(ctx, client.ObjectKeyFromObject(live), live)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", ref, err)
	}
	if !metav1.IsControlledBy(live, from) {
		return false, nil
	}
	owners := slices.DeleteFunc(live.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == from.UID || r.UID == to.UID })
	return true, h.edit(ctx, live, func(u *unstructured.Unstructured) { u.SetOwnerReferences(append(owners, controlledBy(to))) })
}

// removeOwners removes owners of an object that stays.
func (h *handover) removeOwners(ctx context.Context, live *unstructured.Unstructured, which func(metav1.OwnerReference) bool) error {
	owners := slices.DeleteFunc(live.GetOwnerReferences(), which)
	if len(owners) == len(live.GetOwnerReferences()) {
		return nil
	}
	return h.edit(ctx, live, func(u *unstructured.Unstructured) { u.SetOwnerReferences(owners) })
}

// settle removes owners of an object that a set controls, and what says for whom it was kept.
func (h *handover) settle(ctx context.Context, live *unstructured.Unstructured, which func(metav1.OwnerReference) bool) error {
	if live.GetAnnotations()[revision.KeptKey] == "" {
		return h.removeOwners(ctx, live, which)
	}
	return h.edit(ctx, live, func(u *unstructured.Unstructured) {
		u.SetOwnerReferences(slices.DeleteFunc(u.GetOwnerReferences(), which))
		annotations := u.GetAnnotations()
		delete(annotations, revision.KeptKey)
		u.SetAnnotations(annotations)
	})
}

// orphan leaves the objects of a set to themselves, without what says that they are managed.
func (h *handover) orphan(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes) error {
	for _, p := range known.phases {
		for _, e := range p {
			live := named(e.ref)
			err := h.live.Get(ctx, client.ObjectKeyFromObject(live), live)
			if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
				continue
			}
			if err != nil {
				return fmt.Errorf("read %s: %w", e.ref, err)
			}
			// Kubernetes may have removed the reference already; the labels still tell whose the object was.
			if controller := metav1.GetControllerOf(live); controller != nil && controller.UID != set.UID || live.GetLabels()[managedByLabel] != managedByValue {
				continue
			}
			_, extension := revision.ExtensionOf(set)
			err = h.edit(ctx, live, func(u *unstructured.Unstructured) {
				u.SetOwnerReferences(slices.DeleteFunc(u.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == set.UID || extension != "" && r.UID == extension }))
				u.SetLabels(unmark(u.GetLabels()))
				u.SetAnnotations(unmark(u.GetAnnotations()))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// unmark takes what the manager has put on an object out of its labels or annotations.
func unmark(values map[string]string) map[string]string {
	for key := range values {
		if strings.HasPrefix(key, olmv1.GroupName+"/") || key == managedByLabel || key == rollout.ContentAnnotation {
			delete(values, key)
		}
	}
	return values
}

// edit changes the metadata of an object that was read, unless it has changed since. Afterwards the object is the changed one.
func (h *handover) edit(ctx context.Context, live *unstructured.Unstructured, change func(*unstructured.Unstructured)) error {
	changed := live.DeepCopy()
	change(changed)
	err := h.client.Patch(ctx, changed, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{}), client.FieldOwner(objectManager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("change the metadata of %s: %w", rollout.RefOf(live), err)
	}
	if err == nil {
		live.Object = changed.Object
	}
	return nil
}
