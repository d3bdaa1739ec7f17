package clusterobjectset

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// TestLargeBundle: 20 MB of objects are installed, among them a CustomResourceDefinition of 1.3 MB and an object of its kind, which a watch
// has to be started for on the way. Every day they are 3.5 MB, which is more than one Secret, or one object, can hold.
func TestLargeBundle(t *testing.T) {
	w := newWorld(t)
	group := w.Namespace + ".example.com"
	var objects []*unstructured.Unstructured
	random := rand.New(rand.NewPCG(1, 2))
	for i := range sweep.Of(4, 4, 21) {
		text := make([]byte, 660<<10)
		for j := range text {
			text[j] = byte(random.Uint32())
		}
		objects = append(objects, w.configMap(fmt.Sprintf("map-%d", i), base64.StdEncoding.EncodeToString(text)))
	}
	schema := map[string]any{"type": "object", "description": strings.Repeat("What this is for. ", 1300<<10/18), "x-kubernetes-preserve-unknown-fields": true}
	objects = append(objects,
		&unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": "things." + group},
			"spec": map[string]any{"group": group, "scope": "Namespaced", "names": map[string]any{"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
				"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": schema}}}}}},
		&unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/v1", "kind": "Thing",
			"metadata": map[string]any{"namespace": w.Namespace, "name": "one"}, "spec": map[string]any{"size": int64(1)}}})
	began := time.Now()
	w.revise(1, nil, objects...)
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	t.Logf("installed in %s", time.Since(began).Round(10*time.Millisecond))
	w.edit(group+"/v1", "Thing", "one", func(o map[string]any) { o["spec"] = map[string]any{"size": int64(2)} })
	must.Eventually(w, "the edit to be healed", func() error {
		if size, _, _ := unstructured.NestedInt64(w.get(group+"/v1", "Thing", "one").Object, "spec", "size"); size != 1 {
			return fmt.Errorf("its size is %d", size)
		}
		return nil
	})
	must.NoError(t, w.Delete(t.Context(), w.set("NS-1")))
	w.there(false, "v1", "ConfigMap", "map-0")
}
