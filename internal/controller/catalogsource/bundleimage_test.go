package catalogsource

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// TestABundleIsNoCatalog: the image of a bundle is called that at once, and never run in a pod; another image under the tag is served.
func TestABundleIsNoCatalog(t *testing.T) {
	w := newWorld(t, source(grpc(time.Minute)), namespaceOf())
	_, w.registry.err = image.CatalogDir(image.BundleLabels("app", []string{"stable"}, ""))
	for range 3 {
		w.reconcile()
		w.Clock.Step(time.Minute)
	}
	must.Empty(t, "pods for an image that is a bundle", w.pods())
	const want = "it is a bundle (label operators.operatorframework.io.bundle.package.v1=app), not a catalog"
	if s := w.source().Status; !strings.Contains(s.Message, want) || !strings.Contains(s.Message, "fairlead catalog add-bundle") {
		t.Errorf("the status is %s: %s", s.Reason, s.Message)
	}
	w.registry.err = nil
	for range 5 {
		w.Clock.Step(time.Hour)
		w.reconcile()
	}
	must.Equal(t, "after a catalog was pushed", readyReason(w.source()), "True Serving")
}
