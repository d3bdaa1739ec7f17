package clusterextension

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// forged is a set of a person who may make some, with all that a revision of my would say of itself.
func (w *world) forged(name string) *olmv1.ClusterObjectSet {
	w.t.Helper()
	newest := w.newest("my")
	binding := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "evil"}}}
	set := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: newest.Labels, Annotations: newest.Annotations},
		Spec: olmv1.ClusterObjectSetSpec{LifecycleState: olmv1.LifecycleStateActive, Revision: newest.Spec.Revision + 1, CollisionProtection: olmv1.CollisionProtectionPrevent,
			Phases: []olmv1.ClusterObjectSetPhase{{Name: "x", Objects: []olmv1.ClusterObjectSetObject{{Object: binding}}}}}}
	set.Annotations[revision.ServiceAccountKey] = "attacker/sa"
	w.add(set)
	return set
}

// TestForgedRevision: who may make sets gets nothing from saying in labels and annotations that one is a revision of an extension.
func TestForgedRevision(t *testing.T) {
	w := installedWorld(t)
	set := w.forged("my-999")
	w.settle("my")
	w.must(w.client.Get(t.Context(), client.ObjectKeyFromObject(set), set))
	must.Equal(t, "the set acts as", set.Annotations[revision.ServiceAccountKey], "attacker/sa")
	must.Empty(t, "the set acts as", set.OwnerReferences)
	if all := w.revisions("my"); len(all) != 1 || all[0].Spec.LifecycleState != olmv1.LifecycleStateActive {
		t.Errorf("revisions are %v", names(all))
	}
	w.must(w.client.Delete(t.Context(), w.extension("my")))
	for range 5 {
		w.pass("my")
	}
	if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
		t.Errorf("the set of somebody else went with the extension: %v", err)
	}
}

// TestNameOfTheNextRevisionIsTaken is told, and the set of another client is not touched.
func TestNameOfTheNextRevisionIsTaken(t *testing.T) {
	w := installedWorld(t)
	set := w.forged("my-2")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	if _, err := w.controller.Reconcile(t.Context(), requestFor("my")); err == nil || !strings.Contains(err.Error(), "which is not the ClusterExtension's") {
		t.Errorf("got %v", err)
	}
	if got := w.condition("my", olmv1.TypeProgressing); !strings.Contains(got, "there is a ClusterObjectSet of that name") {
		t.Errorf("Progressing is %s", got)
	}
	w.must(w.client.Get(t.Context(), client.ObjectKeyFromObject(set), set))
	must.Equal(t, "annotations", set.Annotations[revision.ServiceAccountKey], "attacker/sa")
	must.Equal(t, "installed", w.installed("my"), "a.v1.0.0")
}

// TestRemovalOfWhatWaits: an extension that waits for something goes when it is deleted, and takes nothing of others along.
func TestRemovalOfWhatWaits(t *testing.T) {
	old := metav1.Unix(1, 0)
	for name, arrange := range map[string]func(w *world){
		"for a catalog":   func(*world) {},
		"for a namespace": func(w *world) { w.serve("cat", pkg("a", "1.0.0")) },
		"for a name that somebody else has": func(w *world) {
			w.serve("cat", pkg("a", "1.0.0"))
			set := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: "my-1", CreationTimestamp: old,
				Labels: map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: "my"}}}
			set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(want("other", "b", ""), olmv1.GroupVersion.WithKind(olmv1.ClusterExtensionKind))}
			w.add(set)
		},
		"for a dependency": func(w *world) { w.serve("cat", pkg("a", "1.0.0=db"), pkg("db", "1.0.0")) },
		"for a bundle": func(w *world) {
			w.serve("cat", pkg("a", "1.0.0"))
			w.bundles.failed["a.v1.0.0"] = errGone
		},
	} {
		t.Run(name, func(t *testing.T) {
			ext := want("my", "a", "")
			if name == "for a namespace" {
				ext.Spec.Namespace = "missing"
			}
			w := newWorld(t, ext)
			arrange(w)
			for range 2 {
				_, _ = w.controller.Reconcile(t.Context(), requestFor("my")) // what it waits for may be an error
			}
			if got := w.revisions("my"); len(got) > 0 {
				t.Fatalf("it does not wait: %v", names(got))
			}
			w.remove("my")
			if name == "for a name that somebody else has" {
				w.must(w.client.Get(t.Context(), client.ObjectKey{Name: "my-1"}, &olmv1.ClusterObjectSet{}))
			}
		})
	}
}
