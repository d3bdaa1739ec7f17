package clusterextension

import (
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// TestRevisionsGoInTheBackground: in the foreground Kubernetes would delete their objects, and definitions with all custom resources. A deletion
// that does not say how is one in the foreground where the finalizer for that is there.
func TestRevisionsGoInTheBackground(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	deleted := 0
	w.controller.client = deletions{w.server, func(o client.Object, policy metav1.DeletionPropagation) {
		if _, is := o.(*olmv1.ClusterObjectSet); is {
			deleted++
			must.Equal(t, "policy of the deletion of "+o.GetName(), policy, metav1.DeletePropagationBackground)
		}
	}}
	ext := w.extension("my")
	ext.Finalizers = append(ext.Finalizers, metav1.FinalizerDeleteDependents)
	w.must(w.client.Update(t.Context(), ext))
	w.must(w.client.Delete(t.Context(), w.extension("my")))
	if _, err := w.controller.Reconcile(t.Context(), requestFor("my")); err != nil || deleted == 0 {
		t.Errorf("%d revisions are deleted, %v", deleted, err)
	}
}
