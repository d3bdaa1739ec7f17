package installplan

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// largeObject is the size of each large object. A few of them are more than one object of the API server can hold, compressed or not; at night they are
// more than 20 MB.
const largeObject = 950_000

func largeObjects() int { return sweep.Of(4, 4, 22) }

// withLargeObjects adds ConfigMaps to a version of an operator. Their content does not compress well.
func withLargeObjects(t *testing.T, tree fs.FS, version string) fs.FS {
	t.Helper()
	out := changed(t, tree, "displayName", "displayName").(fstest.MapFS)
	rng := rand.New(rand.NewPCG(24, 24))
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	for i := range largeObjects() {
		var b strings.Builder
		for range largeObject {
			b.WriteByte(letters[rng.IntN(len(letters))])
		}
		content := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large-%02d"},"data":{"content":%q}}`, i, b.String())
		out[fmt.Sprintf("%s/manifests/large-%02d.json", version, i)] = &fstest.MapFile{Data: []byte(content)}
	}
	return out
}

// TestLargeBundle installs a bundle of more than one object can hold; its plan stays small.
func TestLargeBundle(t *testing.T) {
	o := newOutage(t)
	tree, err := fs.Sub(examples.Bundles, "bundles")
	if err != nil {
		t.Fatal(err)
	}
	if o.published, err = o.publisher().Bundles(t.Context(), withLargeObjects(t, tree, "greeter-operator/1.0.0")); err != nil {
		t.Fatal(err)
	}
	o.publish("1.0.0")
	began := time.Now()
	o.subscribe()
	o.runs("1.0.0")
	took := time.Since(began)
	largest, steps := 0, 0
	for _, p := range o.plans() {
		text := must.Value(json.Marshal(p))(t)
		largest = max(largest, len(text))
		steps += len(p.Status.Plan)
		for _, s := range p.Status.Plan {
			if s.Resource.Kind == "ConfigMap" && s.Status != v1alpha1.StepStatusCreated {
				t.Errorf("ConfigMap %s is %s", s.Resource.Name, s.Status)
			}
		}
	}
	installed := 0
	for i := range largeObjects() {
		config := &corev1.ConfigMap{}
		must.NoError(t, o.Get(t.Context(), client.ObjectKey{Namespace: o.namespace, Name: fmt.Sprintf("large-%02d", i)}, config))
		installed += len(config.Data["content"])
	}
	t.Logf("%.1f MB of manifests in %d steps: the largest plan has %.1f kB, installed after %s", float64(installed)/1e6, steps, float64(largest)/1e3, took.Round(100*time.Millisecond))
	if installed < largeObjects()*largeObject || largest > 64<<10 {
		t.Errorf("%d bytes were installed by a plan of %d bytes; want %d by 64 KiB", installed, largest, largeObjects()*largeObject)
	}
}
