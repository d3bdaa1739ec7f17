package clusterobjectset

import (
	"context"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// indexByOwner is the cache index of ClusterObjectSets by the extension that they are revisions of.
const indexByOwner = "clusterobjectset.owner"

// ownerKeys is indexByOwner: the UID of the extension that controls a set. A set without one has no siblings, whatever its labels say.
func ownerKeys(o client.Object) []string {
	if _, uid := revision.ExtensionOf(o); uid != "" {
		return []string{string(uid)}
	}
	return nil
}

// family is a set and the other revisions of its extension.
type family struct {
	set      *olmv1.ClusterObjectSet
	siblings map[types.UID]*olmv1.ClusterObjectSet
}

func (c *Controller) familyOf(ctx context.Context, set *olmv1.ClusterObjectSet) (*family, error) {
	f := &family{set: set, siblings: map[types.UID]*olmv1.ClusterObjectSet{}}
	owner, uid := revision.ExtensionOf(set)
	if uid == "" {
		return f, nil
	}
	var list olmv1.ClusterObjectSetList
	if err := c.client.List(ctx, &list, client.MatchingFields{indexByOwner: string(uid)}); err != nil {
		return nil, fmt.Errorf("list the revisions of ClusterExtension %s: %w", owner, err)
	}
	for i := range list.Items {
		if s := &list.Items[i]; s.UID != set.UID {
			f.siblings[s.UID] = s
		}
	}
	return f, nil
}

// older are the active revisions before this one.
func (f *family) older() []*olmv1.ClusterObjectSet {
	var out []*olmv1.ClusterObjectSet
	for _, s := range f.siblings {
		if s.Spec.Revision < f.set.Spec.Revision && revision.Active(s) {
			out = append(out, s)
		}
	}
	return out
}

// What the objects of revisions carry, besides the labels that the revision was made with, and its number.
const (
	managedByLabel = "app.kubernetes.io/managed-by"
	managedByValue = olmv1.GroupName
)

// mark makes an object one of this revision.
func (f *family) mark(u *unstructured.Unstructured) {
	labels, annotations := u.GetLabels(), u.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[managedByLabel] = managedByValue
	for _, key := range []string{olmv1.OwnerKindKey, olmv1.OwnerNameKey} {
		if value := f.set.Labels[key]; value != "" {
			labels[key] = value
		}
	}
	annotations[revision.NumberKey] = revision.Number(f.set)
	u.SetLabels(labels)
	u.SetAnnotations(annotations)
	u.SetOwnerReferences([]metav1.OwnerReference{controlledBy(f.set)})
}

// controlledBy is the reference to the controller of an object. The deletion of a set is blocked by its finalizer, so that those who write
// objects need no right to block the deletion of owners.
func controlledBy(set *olmv1.ClusterObjectSet) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterObjectSetKind, Name: set.Name, UID: set.UID, Controller: &yes}
}

// displace takes the control of an object from its controller, which stays an owner, or, if it is the set's own extension, as long as it takes
// to part the object from it. Earlier revisions lose it anyway: their references are written under the same name.
func (f *family) displace(wanted, live *unstructured.Unstructured) error {
	if live == nil {
		return nil
	}
	controller := metav1.GetControllerOf(live)
	if controller == nil || controller.UID == f.set.UID || f.siblings[controller.UID] != nil {
		return nil
	}
	no := false
	controller.Controller = &no
	wanted.SetOwnerReferences(append(wanted.GetOwnerReferences(), *controller))
	return nil
}
