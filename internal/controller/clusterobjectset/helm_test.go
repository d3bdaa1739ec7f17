package clusterobjectset

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"fairlead.dev/fairlead/test/must"
)

// byHelm makes the extension itself an owner of an object, as implementations do that install by way of Helm.
func byHelm(u metav1.Object, controller bool) {
	u.SetOwnerReferences(append(u.GetOwnerReferences(), metav1.OwnerReference{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: "ext", UID: "ext-uid",
		Controller: &controller}))
}

// TestTakenOverFromHelm: what the extension itself controlled is the revision's alone. Otherwise it would go with the extension, whatever is
// kept when that goes.
func TestTakenOverFromHelm(t *testing.T) {
	// A world in which revision 1 has adopted what Helm had installed for the extension.
	w := newWorld(t)
	must.NoError(t, w.Inner.Create(t.Context(), &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "ext", UID: "ext-uid", Finalizers: []string{"example.com/hold"}}}))
	for _, u := range []*unstructured.Unstructured{thing(t), service(t, "new"), configMap(t, "config", "1")} {
		byHelm(u, true)
		must.NoError(t, w.Inner.Create(t.Context(), integers(u)))
	}
	o := options(1, thing(t), service(t, "new"), configMap(t, "config", "1"))
	o.CollisionProtection = olmv1.CollisionProtectionNone
	w.revise(o)
	w.establish()
	w.expect("ext-1", "Progressing=True/Succeeded")
	for _, o := range []metav1.Object{w.definition(), w.get("Service", "new"), w.get("ConfigMap", "config")} {
		if owners := o.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != w.set("ext-1").UID {
			t.Errorf("%s has the owners %v", o.GetName(), owners)
		}
	}
	w.restart()
	w.settle() // the objects are noted as they are now wanted
	writes := w.Made()
	w.restart()
	w.settle()
	must.Equal(t, "nothing has changed", w.Made(), writes)
	w.count = 3
	w.leave(nil)
	w.settle()
	if crd := w.definition(); len(w.names()) > 0 || crd == nil || len(crd.OwnerReferences) > 0 {
		t.Errorf("left: %v, %+v", w.names(), crd)
	}
}

// TestKeptFromTheExtension: a definition that is kept is so from the extension, too, whoever has made that an owner of it.
func TestKeptFromTheExtension(t *testing.T) {
	for _, way := range []string{"kept", "orphaned"} {
		t.Run(way, func(t *testing.T) {
			w := extended(t)
			w.count = 3
			crd := w.definition()
			byHelm(crd, false)
			w.update(crd)
			if way == "orphaned" {
				set := w.set("ext-1")
				set.Finalizers = append(set.Finalizers, metav1.FinalizerOrphanDependents)
				w.update(set)
				w.give("ext-1", "deleted")
			} else {
				w.leave(nil)
			}
			w.settle()
			if crd := w.definition(); way == "kept" && len(w.names()) > 0 || crd == nil || len(crd.OwnerReferences) > 0 {
				t.Errorf("left: %v, %+v", w.names(), crd)
			}
		})
	}
}
