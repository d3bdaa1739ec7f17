package clusterobjectset

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"
)

// thing is a definition of the namespace's own group.
func (w *world) thing() *unstructured.Unstructured {
	group := w.Namespace + ".example.com"
	schema := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "things." + group},
		"spec": map[string]any{"group": group, "scope": "Namespaced", "names": map[string]any{"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": schema}}}}}}
}

// definition is the live one; nil when it is gone.
func (w *world) definition() *unstructured.Unstructured {
	w.Helper()
	u := w.thing()
	if err := w.Get(w.Context(), client.ObjectKey{Name: u.GetName()}, u); client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	} else if err != nil {
		return nil
	}
	return u
}

// release takes the finalizer away, as an operator does.
func (w *world) release() {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(w.Namespace + ".example.com/v1")
	u.SetKind("Thing")
	u.SetNamespace(w.Namespace)
	u.SetName("mine")
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	ctx, cancel := context.WithTimeout(context.Background(), must.Timeout)
	defer cancel()
	_ = w.Patch(ctx, u, patch) // it may be gone
}

// TestCustomResourcesStay with their definition when the set goes that brought it, and can be read and deleted.
func TestCustomResourcesStay(t *testing.T) {
	w := newWorld(t)
	// Bring a revision with a definition and an operator into the cluster, and make a custom resource with a finalizer.
	w.revise(1, nil, w.thing(), w.web("web:v1"))
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	w.Cleanup(func() { w.removeNow(w.thing()) })
	w.apply(strings.ReplaceAll("{apiVersion: GROUP/v1, kind: Thing, metadata: {namespace: NS, name: mine, finalizers: [example.com/up]}}", "GROUP", w.Namespace+".example.com"))
	w.Cleanup(func() { w.release() })
	must.NoError(t, w.Delete(t.Context(), w.set("NS-1")))
	must.Eventually(w, "the set to go", func() error { return client.IgnoreNotFound(w.gone("NS-1")) })
	w.there(false, "apps/v1", "Deployment", "web")
	crd := w.definition()
	if crd == nil || crd.GetDeletionTimestamp() != nil || len(crd.GetOwnerReferences()) > 0 {
		t.Fatalf("the definition does not stay: %v", crd)
	}
	if w.get(w.Namespace+".example.com/v1", "Thing", "mine") == nil {
		t.Error("the custom resource is gone")
	}
	must.Eventually(w, "an Event that tells of it", func() error {
		var events corev1.EventList
		if err := w.List(t.Context(), &events); err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.Reason == "CRDKept" && strings.Contains(e.Message, crd.GetName()) && strings.Contains(e.Message, "it has 1 custom resource; Thing "+w.Namespace+"/mine waits for its finalizers example.com/up") {
				return nil
			}
		}
		return fmt.Errorf("none of %d", len(events.Items))
	})
}

// TestLostContent: the Secrets of a set are gone; its objects are found in the cluster, and go in order.
func TestLostContent(t *testing.T) {
	w := newWorld(t)
	w.revise(1, nil, w.configMap("config", "1"), w.web("web:v1"))
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	for _, p := range w.set("NS-1").Spec.Phases {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: p.Objects[0].Ref.Name}}
		if err := w.Delete(t.Context(), s); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	w.reports("NS-1", "Progressing=True/Retrying", "not found")
	hold := func(finalizers ...string) {
		w.edit("apps/v1", "Deployment", "web", func(o map[string]any) { (&unstructured.Unstructured{Object: o}).SetFinalizers(finalizers) })
	}
	hold("example.com/hold")
	w.change("NS-1", func(set *olmv1.ClusterObjectSet) { set.Spec.LifecycleState = olmv1.LifecycleStateArchived })
	w.reports("NS-1", "Progressing=True/Retrying", "2 of 2 objects are left.\nDeployment NS/web is being deleted")
	if w.get("v1", "ConfigMap", "config") == nil {
		t.Error("an earlier phase went first")
	}
	hold()
	w.reports("NS-1", "Progressing=False/Archived", "")
	w.there(false, "v1", "ConfigMap", "config")
}
