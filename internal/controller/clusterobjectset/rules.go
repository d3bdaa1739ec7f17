package clusterobjectset

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/revision"
	"fairlead.dev/fairlead/internal/rollout"
)

// What the objects of revisions carry, besides the labels that the revision was made with.
const (
	revisionAnnotation = olmv1.GroupName + "/revision"
	managedByLabel     = "app.kubernetes.io/managed-by"
	managedByValue     = olmv1.GroupName
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
	annotations[revisionAnnotation] = number(f.set)
	u.SetLabels(labels)
	u.SetAnnotations(annotations)
	u.SetOwnerReferences([]metav1.OwnerReference{controlledBy(f.set)})
}

// controlledBy is the reference to the controller of an object. The deletion of a set is held up by its finalizer, so that those who write
// objects need no right to block the deletion of owners.
func controlledBy(set *olmv1.ClusterObjectSet) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterObjectSetKind, Name: set.Name, UID: set.UID, Controller: &yes}
}

// number is that of a revision, as its objects carry it.
func number(set *olmv1.ClusterObjectSet) string { return strconv.FormatInt(set.Spec.Revision, 10) }

// superseded says whether a later revision controls the object: it is left to that one.
func (f *family) superseded(live *unstructured.Unstructured) bool {
	controller := metav1.GetControllerOfNoCopy(live)
	if controller == nil {
		return false
	}
	sibling := f.siblings[controller.UID]
	return sibling != nil && sibling.Spec.Revision > f.set.Spec.Revision
}

// claim says to whom a live object belongs. What earlier revisions control is taken over.
func (f *family) claim(protection olmv1.CollisionProtection) rollout.Claim {
	return func(live *unstructured.Unstructured) string {
		controller := metav1.GetControllerOfNoCopy(live)
		if controller == nil {
			return f.claimOrphan(protection, live)
		}
		sibling := f.siblings[controller.UID]
		switch {
		case controller.UID == f.set.UID:
			return ""
		case sibling != nil && sibling.Spec.Revision < f.set.Spec.Revision:
			return ""
		case sibling != nil:
			return fmt.Sprintf("is controlled by ClusterObjectSet %s, which has the same revision number", sibling.Name)
		case protection == olmv1.CollisionProtectionNone:
			return ""
		}
		return fmt.Sprintf("is controlled by %s %s", controller.Kind, controller.Name)
	}
}

func (f *family) claimOrphan(protection olmv1.CollisionProtection, live *unstructured.Unstructured) string {
	name, uid := revision.ExtensionOf(f.set)
	switch {
	case revision.KeptFor(live, name, uid):
		return ""
	case protection == olmv1.CollisionProtectionPrevent:
		return "exists already, and nothing controls it"
	case live.GetAnnotations()[revisionAnnotation] == number(f.set) && labelled(live) == labelled(f.set):
		return "was one of its objects, and somebody has taken it away from its controller"
	}
	return ""
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
