package clusterextension

import (
	"fmt"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// TestAdoptingWhatIsThere: a CRD without owner is refused with the number of its custom resources and the way to adopt it. That way adopts it, with all
// custom resources; what another extension or a ClusterServiceVersion has is refused all the same, and removing the extension keeps the data.
func TestAdoptingWhatIsThere(t *testing.T) {
	w := newWorld(t)
	definition := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(w, yaml.Unmarshal([]byte(crd("thing", w.name, "from before")), definition))
	w.create(definition)
	uids := map[types.UID]bool{}
	w.until("custom resources can be made", func() (bool, string) {
		mine := w.made("a")
		err := w.Create(t.Context(), mine)
		uids[mine.GetUID()] = true
		return err == nil, fmt.Sprint(err)
	})
	for _, name := range []string{"b", "c"} {
		mine := w.made(name)
		must.NoError(w, w.Create(t.Context(), mine))
		uids[mine.GetUID()] = true
	}
	delete(uids, "")
	w.publish(w.thingOperator())
	w.extend(w.name, w.name)
	offer := fmt.Sprintf("fairlead install %s --api v1 --namespace %[1]s --adopt", w.name)
	w.says(w.name, "Progressing", "True", "Retrying", "CustomResourceDefinition "+w.things()+" is wanted by ClusterObjectSet "+w.name+
		"-1 but exists already, and nothing controls it, and it has 3 custom resources; to adopt what exists and has no owner, which overwrites the fields that the bundle sets, keeps custom resources, and deletes the rest with the ClusterExtension: "+offer)

	asked, err := ops.InstallExtension(t.Context(), w, ops.ExtensionOptions{Package: w.name, Namespace: w.name, Adopt: true})
	must.NoError(w, err)
	must.Equal(w, "the extension that is there gets leave", asked.Adopting, true)
	w.installed(w.name, w.name+".v1.0.0")
	adopted := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(w, w.Get(t.Context(), client.ObjectKeyFromObject(definition), adopted))
	if owner := metav1.GetControllerOf(adopted); adopted.UID != definition.UID || owner == nil || owner.Name != w.name+"-2" {
		t.Errorf("the definition is not adopted as it was: %+v", adopted.ObjectMeta)
	}
	w.stay(uids)

	// It is the extension's now. Another one may adopt what it likes: not that.
	other := w.name + "-o"
	w.namespace(other)
	w.extend(other, w.name, func(e *olmv1.ClusterExtension) {
		e.Spec.Namespace, e.Annotations = other, map[string]string{revision.AdoptKey: "true"}
	})
	w.says(other, "Progressing", "True", "Retrying", "is controlled by ClusterObjectSet "+w.name+"-2; it belongs to ClusterExtension "+w.name+", and stays with it; "+
		"to have the other one in its place, first: fairlead uninstall "+w.name)
	must.NoError(w, w.Delete(t.Context(), w.extension(other)))
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: other}})

	must.NoError(w, w.Delete(t.Context(), w.extension(w.name)))
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
	w.stay(uids)
}

// TestWhatIsAdoptedIsCheckedFirst: leave to adopt a definition does not cover a change that breaks custom resources, nor what Helm has.
func TestWhatIsAdoptedIsCheckedFirst(t *testing.T) {
	w := newWorld(t)
	definition := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(w, yaml.Unmarshal([]byte(w.widgets("")), definition))
	definition.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	definition.Annotations = map[string]string{"meta.helm.sh/release-name": "rel", "meta.helm.sh/release-namespace": "there"}
	w.create(definition)
	w.publish(operator{pkg: w.name, version: "1.0.0", csv: w.owning(), files: map[string]string{"crd": w.widgets(`,"maximum":5`)}},
		operator{pkg: w.name, version: "1.0.1", csv: w.owning(), files: map[string]string{"crd": w.widgets("")}})
	w.extend(w.name, w.name, annotated(revision.AdoptKey, "true"), version("1.0.0"))
	w.says(w.name, "Progressing", "True", "Retrying", "maximum")
	w.change(w.name, version("1.0.1"))
	w.says(w.name, "Progressing", "True", "Retrying", "belongs to Helm release there/rel; to let Helm give it up")
}

func (w *world) made(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": w.name + ".example.com/v1", "kind": "Thing", "metadata": map[string]any{"namespace": w.name, "name": name}}}
}

// stay fails where custom resources are not those that they were.
func (w *world) stay(uids map[types.UID]bool) {
	w.Helper()
	must.Equal(w, "custom resources at first", len(uids), 3)
	for _, name := range []string{"a", "b", "c"} {
		is := w.made(name)
		must.NoError(w, w.Get(w.Context(), client.ObjectKeyFromObject(is), is))
		if !uids[is.GetUID()] || is.GetDeletionTimestamp() != nil {
			w.Errorf("%s is not the one that was there", name)
		}
	}
}
