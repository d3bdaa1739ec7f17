package rollout

import (
	"context"
	"fmt"
	"sync"

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
		if controller == nil || contains(ours, controller.UID) {
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

func contains(all []types.UID, uid types.UID) bool {
	for _, u := range all {
		if u == uid {
			return true
		}
	}
	return false
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
		if !refers(references, there) {
			references = append(references, there)
		}
	}
	wanted.SetOwnerReferences(references)
	return nil
}

// refers reports whether one of the references means the same owner. A reference without UID is to the owner that has the name now.
func refers(references []metav1.OwnerReference, to metav1.OwnerReference) bool {
	for _, r := range references {
		if r.UID == to.UID || r.UID == "" && r.Kind == to.Kind && r.Name == to.Name {
			return true
		}
	}
	return false
}

// ownerIndex knows the UIDs of the objects of a run, to complete owner references with.
type ownerIndex struct {
	mu   sync.Mutex
	uids map[ownerKey]types.UID
}

type ownerKey struct {
	schema.GroupKind
	namespace, name string
}

func (x *ownerIndex) put(key ownerKey, uid types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.uids == nil {
		x.uids = map[ownerKey]types.UID{}
	}
	x.uids[key] = uid
}

func (x *ownerIndex) get(key ownerKey) (types.UID, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	uid, ok := x.uids[key]
	return uid, ok
}

// complete fills in the UIDs of owner references that have none.
func (x *ownerIndex) complete(ctx context.Context, reader client.Reader, u *unstructured.Unstructured) error {
	references := u.GetOwnerReferences()
	changed := false
	for i := range references {
		if references[i].UID != "" {
			continue
		}
		uid, err := x.uidOf(ctx, reader, references[i], u.GetNamespace())
		if err != nil {
			return err
		}
		references[i].UID, changed = uid, true
	}
	if changed {
		u.SetOwnerReferences(references)
	}
	return nil
}

// uidOf returns the UID of an owner in the namespace of what it owns, from this run or else from the API server.
func (x *ownerIndex) uidOf(ctx context.Context, reader client.Reader, r metav1.OwnerReference, namespace string) (types.UID, error) {
	gvk := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
	key := ownerKey{gvk.GroupKind(), namespace, r.Name}
	if uid, ok := x.get(key); ok {
		return uid, nil
	}
	owner := &metav1.PartialObjectMetadata{}
	owner.SetGroupVersionKind(gvk)
	if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: r.Name}, owner); err != nil {
		return "", fmt.Errorf("look up its owner %s %s: %w", r.Kind, r.Name, err)
	}
	x.put(key, owner.GetUID())
	return owner.GetUID(), nil
}
