package clusterextension

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// byHelm installs the definition of thingOperator as another implementation does by way of Helm: the extension itself is the controller. As long as
// the test has no catalog, nothing else is installed. It returns the definition, a custom resource, and an object of the extension that no release has.
func (w *world) byHelm(released bool) (definition *apiextensionsv1.CustomResourceDefinition, mine *unstructured.Unstructured, extra *corev1.ConfigMap) {
	w.Helper()
	w.extend(w.name, w.name, func(e *olmv1.ClusterExtension) {
		e.Annotations = map[string]string{"operators.fairlead.dev/acknowledged-permissions": "*"} // the release has the definition alone
	})
	yes := true
	owners := []metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: w.name, UID: w.extension(w.name).UID, Controller: &yes}}
	installed := &unstructured.Unstructured{}
	must.NoError(w, installed.UnmarshalJSON([]byte(crd("thing", w.name, "a thing"))))
	manifest := must.Value(installed.MarshalJSON())(w)
	installed.SetOwnerReferences(owners)
	definition = &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: w.things()}}
	must.NoError(w, w.Create(w.Context(), installed, client.FieldOwner("operator-controller")))
	w.Cleanup(func() {
		_ = w.Delete(w.clean(), &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: w.things()}})
		w.release(w.thing())
	})
	mine = w.thing()
	w.until("a custom resource", func() (bool, string) {
		err := w.Create(w.Context(), mine)
		if err != nil && !meta.IsNoMatchError(err) {
			w.Log(err)
		}
		return err == nil, "none"
	})
	extra = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: "extra", OwnerReferences: owners}}
	w.create(extra)
	if released {
		// A release of the first bundle with objects.
		manifest := string(manifest)
		text, err := json.Marshal(map[string]any{"name": w.name, "namespace": w.name, "version": 1, "info": map[string]any{"status": "deployed"}, "manifest": manifest})
		must.NoError(w, err)
		var data bytes.Buffer
		z := gzip.NewWriter(&data)
		_, err = z.Write(text)
		must.NoError(w, err)
		must.NoError(w, z.Close())
		w.create(&corev1.Secret{Type: "operatorframework.io/index.v1",
			ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "sh.helm.release.v1." + w.name + ".v1", OwnerReferences: owners,
				Labels: map[string]string{"owner": "operator-controller", "name": w.name, "status": "deployed", "type": "index",
					olmv1.PackageNameKey: w.name, olmv1.BundleNameKey: w.name + ".v1.0.0", olmv1.BundleVersionKey: "1.0.0"},
				Annotations: map[string]string{olmv1.BundleReferenceKey: w.image(w.thingOperator())}},
			Data: map[string][]byte{"chunk": data.Bytes(), "extraChunks": []byte("[]")}})
	}
	return definition, mine, extra
}

// TestWhatHelmHasInstalled is taken over; then the extension is deleted, before or after that, and with it what it owned. Custom resources are not.
func TestWhatHelmHasInstalled(t *testing.T) {
	t.Parallel()
	for name, released := range map[string]bool{"taken over": true, "not taken over": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			definition, mine, extra := w.byHelm(released)
			if released {
				w.publish(w.thingOperator())
				w.installed(w.name, w.name+".v1.0.0")
				if r := w.revisions(w.name)[1]; r.Labels[olmv1.MigratedFromHelmKey] != "true" {
					t.Errorf("the first revision is not of the release: %v", r.Labels)
				}
				must.NoError(w, w.Get(t.Context(), client.ObjectKeyFromObject(definition), definition))
				if owners := definition.OwnerReferences; len(owners) != 1 || owners[0].Kind != olmv1.ClusterObjectSetKind {
					t.Errorf("the definition has the owners %v", owners)
				}
			}
			must.NoError(w, w.Delete(t.Context(), w.extension(w.name)))
			w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
			w.gone(extra) // by then Kubernetes has looked at what the extension owned
			must.NoError(w, w.Get(t.Context(), client.ObjectKeyFromObject(definition), definition))
			if definition.DeletionTimestamp != nil || len(definition.OwnerReferences) > 0 {
				t.Errorf("the definition is about to go: %v", definition.ObjectMeta)
			}
			w.there(mine)
			if mine.GetDeletionTimestamp() != nil {
				t.Error("the custom resource is about to go")
			}
		})
	}
}
