package clusterobjectset

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// seen takes note of an object, and wakes its set; if it has come from another set, that one and its siblings as well.
func (w *watches) seen(k *watched, kind schema.GroupVersionKind, before, after any) {
	o, ok := after.(client.Object)
	if !ok {
		return
	}
	w.mu.Lock()
	k.versions[client.ObjectKeyFromObject(o)] = o.GetResourceVersion()
	w.mu.Unlock()
	w.wake(setOf(o))
	if was, ok := before.(client.Object); ok && setOf(was) != setOf(o) {
		w.wake(setOf(was))
		w.wakeFamily(kind, revision.Labelled(o))
	}
}

// gone is seen for an object that was deleted, or has lost its label.
func (w *watches) gone(k *watched, kind schema.GroupVersionKind, object any) {
	if unknown, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	o, ok := object.(client.Object)
	if !ok {
		return
	}
	w.mu.Lock()
	delete(k.versions, client.ObjectKeyFromObject(o))
	w.mu.Unlock()
	w.wake(setOf(o))
	w.wakeFamily(kind, revision.Labelled(o))
}

// setOf is the set that controls an object.
func setOf(o client.Object) string {
	controller := metav1.GetControllerOfNoCopy(o)
	if controller == nil || controller.Kind != olmv1.ClusterObjectSetKind {
		return ""
	}
	return controller.Name
}

func (w *watches) wake(set string) {
	if set != "" {
		w.queue.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Name: set}}, settling)
	}
}

// wakeFamily wakes the revisions of an extension that have objects of a kind.
func (w *watches) wakeFamily(kind schema.GroupVersionKind, family string) {
	w.mu.Lock()
	var names []string
	for name, u := range w.users {
		if u.family == family && u.kinds[kind] {
			names = append(names, name)
		}
	}
	w.mu.Unlock()
	for _, name := range names {
		w.wake(name)
	}
}

// trim leaves of an object what is needed to tell whose it is.
func trim(object any) (any, error) {
	o, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	labels := map[string]string{}
	for _, key := range []string{olmv1.OwnerKindKey, olmv1.OwnerNameKey} {
		if value, ok := o.Labels[key]; ok {
			labels[key] = value
		}
	}
	*o = metav1.PartialObjectMetadata{TypeMeta: o.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion, Labels: labels, OwnerReferences: o.OwnerReferences,
	}}
	return o, nil
}
