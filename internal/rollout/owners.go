package rollout

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Claim says to whom, other than those for whom the run is made, a live object belongs. The text continues a sentence about the
// object, e.g. `is controlled by Deployment web`; empty means that the object may be adopted.
type Claim func(live *unstructured.Unstructured) string

// ControlledByOthers is the Claim of every controller but those with the given UIDs. Objects without controller may be adopted.
func ControlledByOthers(ours ...types.UID) Claim {
	return func(live *unstructured.Unstructured) string {
		controller := metav1.GetControllerOfNoCopy(live)
		if controller == nil || slices.Contains(ours, controller.UID) {
			return ""
		}
		return fmt.Sprintf("is controlled by %s %s", controller.Kind, controller.Name)
	}
}

// NotOurs is the Claim on every object that none of the given UIDs controls, one without controller included.
func NotOurs(ours ...types.UID) Claim {
	others := ControlledByOthers(ours...)
	return func(live *unstructured.Unstructured) string {
		if metav1.GetControllerOfNoCopy(live) == nil {
			return "existed before, and nothing controls it"
		}
		return others(live)
	}
}

// Share is the Adjust for an object that several owners want: the owner references and annotations that it has stay. Wanted ones
// win.
func Share(wanted, live *unstructured.Unstructured) error {
	if live == nil {
		return nil
	}
	annotations := live.GetAnnotations()
	delete(annotations, ContentAnnotation)
	delete(annotations, lastApplied)
	for key, value := range wanted.GetAnnotations() {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
	}
	if len(annotations) > 0 {
		wanted.SetAnnotations(annotations)
	}
	references := wanted.GetOwnerReferences()
	for _, there := range live.GetOwnerReferences() {
		// A reference without UID is to the owner that has the name now.
		if !slices.ContainsFunc(references, func(r metav1.OwnerReference) bool {
			return r.UID == there.UID || r.UID == "" && r.Kind == there.Kind && r.Name == there.Name
		}) {
			references = append(references, there)
		}
	}
	wanted.SetOwnerReferences(references)
	return nil
}

type ownerKey struct {
	schema.GroupKind
	namespace, name string
}

// completeOwners fills in the UIDs of owner references that have none: of owners in the same namespace, from this run or else from the API server.
func (r *run) completeOwners(ctx context.Context, u *unstructured.Unstructured) error {
	references := u.GetOwnerReferences()
	changed := false
	for i := range references {
		to := &references[i]
		if to.UID != "" {
			continue
		}
		gvk := schema.FromAPIVersionAndKind(to.APIVersion, to.Kind)
		key := ownerKey{gvk.GroupKind(), u.GetNamespace(), to.Name}
		uid, ok := r.owners.Load(key)
		if !ok {
			owner := &metav1.PartialObjectMetadata{}
			owner.SetGroupVersionKind(gvk)
			if err := r.reader.Get(ctx, client.ObjectKey{Namespace: u.GetNamespace(), Name: to.Name}, owner); err != nil {
				return fmt.Errorf("look up its owner %s %s: %w", to.Kind, to.Name, err)
			}
			uid = owner.GetUID()
			r.owners.Store(key, uid)
		}
		to.UID, changed = uid.(types.UID), true
	}
	if changed {
		u.SetOwnerReferences(references)
	}
	return nil
}
