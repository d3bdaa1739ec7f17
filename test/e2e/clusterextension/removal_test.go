package clusterextension

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// things is the name of the definition that the operator of thingOperator has.
func (w *world) things() string { return "things." + w.name + ".example.com" }

// thingOperator has a definition.
func (w *world) thingOperator() operator {
	owned := fmt.Sprintf(`,"customresourcedefinitions":{"owned":[{"name":%q,"version":"v1","kind":"Thing"}]}`, w.things())
	return operator{pkg: w.name, version: "1.0.0", files: map[string]string{"crd": crd("thing", w.name, "a thing")}, csv: owned}
}

// thing is a custom resource that the operator has to let go of.
func (w *world) thing() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": w.name + ".example.com/v1", "kind": "Thing",
		"metadata": map[string]any{"namespace": w.name, "name": "mine", "finalizers": []any{"example.com/up"}}}}
}

// release takes the finalizers away, as an operator does.
func (w *world) release(o client.Object) {
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := w.Patch(w.clean(), o, patch); client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) {
		w.Error(err)
	}
}

// holding installs the operator, and makes a custom resource.
func (w *world) holding() *unstructured.Unstructured {
	w.Helper()
	w.publish(w.thingOperator())
	w.extend(w.name, w.name)
	w.installed(w.name, w.name+".v1.0.0")
	mine := w.thing()
	w.create(mine)
	w.Cleanup(func() {
		_ = w.Delete(w.clean(), &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: w.things()}})
		w.release(w.thing())
	})
	return mine
}

// TestRemovalKeepsData: who deletes an extension does not delete what people have made with it. The next extension of the name goes on with that.
func TestRemovalKeepsData(t *testing.T) {
	w := newWorld(t)
	mine := w.holding()
	must.NoError(w, w.Delete(t.Context(), w.extension(w.name)))
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
	w.gone(w.deployment(w.name))
	w.there(mine)
	definition := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(w, w.Get(t.Context(), client.ObjectKey{Name: w.things()}, definition))
	if definition.DeletionTimestamp != nil || metav1.GetControllerOf(definition) != nil {
		t.Errorf("the definition is about to go: %v", definition.ObjectMeta)
	}
	w.until("an Event tells of it", func() (bool, string) {
		var events corev1.EventList
		must.NoError(w, w.List(t.Context(), &events))
		for _, e := range events.Items {
			if e.Reason == "CRDKept" && e.InvolvedObject.Kind == olmv1.ClusterExtensionKind && e.InvolvedObject.Name == w.name {
				return true, e.Message
			}
		}
		return false, fmt.Sprintf("none among %d", len(events.Items))
	})
	w.extend(w.name, w.name)
	w.installed(w.name, w.name+".v1.0.0")
	must.NoError(w, w.Get(t.Context(), client.ObjectKey{Name: w.things()}, definition))
	if owner := metav1.GetControllerOf(definition); owner == nil || owner.Kind != olmv1.ClusterObjectSetKind {
		t.Errorf("the next extension does not have it: %v", owner)
	}
	w.there(mine)
}

// TestRemovalWithData: where somebody asks for it, custom resources go with the extension, and before the operator, which has to let go of them.
func TestRemovalWithData(t *testing.T) {
	sweep.Nightly(t, "TestForegroundRemoval, which removes another way")
	w := newWorld(t)
	mine := w.holding()
	w.change(w.name, func(e *olmv1.ClusterExtension) { e.Annotations = map[string]string{revision.DeleteCRDsKey: w.things()} })
	must.NoError(w, w.Delete(t.Context(), w.extension(w.name)))
	w.says(w.name, "Progressing", "True", "RollingOut", "Thing "+w.name+"/mine waits for its finalizers example.com/up; the operator stays for that until")
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(w.deployment(w.name)), w.deployment(w.name)); err != nil {
		t.Errorf("the operator went first: %v", err)
	}
	w.release(mine)
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
	w.gone(w.deployment(w.name))
	err := w.Get(t.Context(), client.ObjectKey{Name: w.things()}, &apiextensionsv1.CustomResourceDefinition{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the definition is there: %v", err)
	}
}

// TestOrphaning: kubectl delete --cascade=orphan leaves everything as it runs, without what says that it is managed.
func TestOrphaning(t *testing.T) {
	w := newWorld(t)
	mine := w.holding()
	deployment := w.deployment(w.name)
	w.there(deployment)
	uid := deployment.UID
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: w.name}}
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: w.things()}}
	must.NoError(w, w.Delete(t.Context(), w.extension(w.name), client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
	w.until("the revisions are gone", func() (bool, string) {
		all := w.revisions(w.name)
		return len(all) == 0, fmt.Sprint(len(all))
	})
	for _, o := range []client.Object{deployment, account, definition} {
		must.NoError(w, w.Get(t.Context(), client.ObjectKeyFromObject(o), o))
		w.Cleanup(func() { _ = w.Delete(w.clean(), o) })
		if o.GetDeletionTimestamp() != nil || len(o.GetOwnerReferences()) > 0 || o.GetLabels()[olmv1.OwnerNameKey] != "" {
			t.Errorf("%T %s is still managed: %v %v %v", o, o.GetName(), o.GetDeletionTimestamp(), o.GetOwnerReferences(), o.GetLabels())
		}
	}
	if deployment.UID != uid {
		t.Error("the operator was made anew")
	}
	w.there(mine)
}
