package clusterobjectset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// disown removes the set from the owners of an object that stays.
func (c *Controller) disown(ctx context.Context, set *olmv1.ClusterObjectSet, live *unstructured.Unstructured) error {
	owners := slices.DeleteFunc(live.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == set.UID })
	if len(owners) == len(live.GetOwnerReferences()) {
		return nil
	}
	return c.edit(ctx, live, func(u *unstructured.Unstructured) { u.SetOwnerReferences(owners) })
}

// part takes an object that the set controls from the extension of the set. Implementations that install by way of Helm make that the controller,
// so that all objects go with it, those included that are kept when the set goes. An apply cannot take away what others have written.
func (c *Controller) part(ctx context.Context, set *olmv1.ClusterObjectSet, live *unstructured.Unstructured) error {
	if !metav1.IsControlledBy(live, set) {
		return nil
	}
	owners := slices.DeleteFunc(live.GetOwnerReferences(), extensionOf(set))
	if len(owners) == len(live.GetOwnerReferences()) {
		return nil
	}
	return c.edit(ctx, live, func(u *unstructured.Unstructured) { u.SetOwnerReferences(owners) })
}

// extensionOf tells whether an owner is the extension that the set is a revision of.
func extensionOf(set *olmv1.ClusterObjectSet) func(metav1.OwnerReference) bool {
	_, uid := revision.ExtensionOf(set)
	return func(r metav1.OwnerReference) bool { return uid != "" && r.UID == uid }
}

// orphan leaves the objects of a set to themselves, without what says that they are managed.
func (c *Controller) orphan(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes) error {
	for _, p := range known.phases {
		for _, e := range p {
			live := named(e.ref)
			err := c.live.Get(ctx, client.ObjectKeyFromObject(live), live)
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
			extension := extensionOf(set)
			err = c.edit(ctx, live, func(u *unstructured.Unstructured) {
				u.SetOwnerReferences(slices.DeleteFunc(u.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == set.UID || extension(r) }))
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
func (c *Controller) edit(ctx context.Context, live *unstructured.Unstructured, change func(*unstructured.Unstructured)) error {
	changed := live.DeepCopy()
	change(changed)
	err := c.client.Patch(ctx, changed, optimistic(live), client.FieldOwner(objectManager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("change the owners of %s: %w", rollout.RefOf(live), err)
	}
	if err == nil {
		live.Object = changed.Object
	}
	return nil
}
