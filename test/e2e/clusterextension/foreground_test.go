package clusterextension

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const inForeground = client.PropagationPolicy(metav1.DeletePropagationForeground)

// guard puts the policy of the manifests in force that lets nobody delete revisions in the foreground, and waits for that.
func (w *world) guard() {
	w.Helper()
	data, err := os.ReadFile("../../../config/policies.yaml")
	w.must(err)
	found := 0
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		o := &unstructured.Unstructured{}
		if err := d.Decode(&o.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			w.Fatal(err)
		}
		if o.GetName() == "fairlead-revision-foreground" {
			found++
			w.create(o)
		}
	}
	if found != 2 {
		w.Fatalf("the manifests have %d objects of the policy, want it and its binding", found)
	}
	w.until("the policy is in force", func() (bool, string) {
		set := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: revision.Name(w.name, 1)}}
		err := w.Delete(w.Context(), set, inForeground, client.DryRunAll)
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "fairlead-revision-foreground"), fmt.Sprint(err)
	})
}

// TestForegroundRemoval: whoever deletes an extension with --cascade=foreground, as some tools do always, gets the same as anybody: the
// collector is kept from deleting its revisions with all that they have, the manager takes them out, and then the extension is gone.
func TestForegroundRemoval(t *testing.T) {
	w := newWorld(t)
	mine := w.holding()
	w.guard()
	definition := &apiextensionsv1.CustomResourceDefinition{}

	w.must(w.Delete(t.Context(), w.extension(w.name), inForeground))
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
	w.gone(w.deployment(w.name))
	w.there(mine)
	w.must(w.Get(t.Context(), client.ObjectKey{Name: w.things()}, definition))
	if definition.DeletionTimestamp != nil || metav1.GetControllerOf(definition) != nil {
		t.Errorf("the definition is about to go: %v", definition.ObjectMeta)
	}

	// Where somebody asks for it custom resources go, and still before the operator.
	w.extend(w.name, w.name, func(e *olmv1.ClusterExtension) { e.Annotations = map[string]string{revision.DeleteCRDsKey: w.things()} })
	w.installed(w.name, w.name+".v1.0.0")
	w.must(w.Delete(t.Context(), w.extension(w.name), inForeground))
	w.says(w.name, "Progressing", "True", "RollingOut", "Thing "+w.name+"/mine waits for its finalizers example.com/up; the operator stays for that until")
	w.there(w.deployment(w.name))
	w.release(mine)
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
	w.gone(w.deployment(w.name))
	w.gone(definition)
}
