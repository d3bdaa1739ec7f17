package catalogsource

import (
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// TestABundleImage is called one, and is not run; the catalog that takes its place under the same tag is served.
func TestABundleImage(t *testing.T) {
	b := newBroken(t)
	spec := grpc(time.Minute)
	spec.Image = b.host + "/cat:latest"
	w := newWorld(t, source(spec), namespaceOf())
	w.withPods(newServer(t, good))
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	w.c.images = images{reader: catalogstore.ImageReader{Images: store, Indexes: w.indexes}, secrets: w.Server}
	files := fstest.MapFS{"manifests/csv.yaml": {Data: []byte("kind: ClusterServiceVersion")}}
	must.Value(image.Push(t.Context(), spec.Image, files, image.BundleLabels("kite", []string{"stable"}, "stable"), image.PushOptions{}))(t)
	for range 3 {
		_, s := w.reconcile()
		must.Contain(t, "message", s.Status.Message, "it is a bundle image, of package kite", "and no catalog", "put it into a catalog with fairlead catalog add-bundle", "fairlead install --image")
		w.Clock.Step(catalogstore.LongestRetry)
	}
	must.Empty(t, "pods", w.pods())
	b.push(good)
	w.reconcile()
	must.Equal(t, "ready", readyReason(w.source()), "True Serving")
}
