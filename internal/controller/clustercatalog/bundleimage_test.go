package clustercatalog

import (
	"errors"
	"testing"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// TestABundleIsNoCatalog: the image of a bundle is called that, and not read again where a digest names it.
func TestABundleIsNoCatalog(t *testing.T) {
	ref := repository + "@" + digest(1)
	w := newWorld(t, clusterCatalog(ref, 0))
	_, err := image.CatalogDir(image.BundleLabels("app", []string{"stable"}, ""))
	var wrong *image.Error
	must.Equal(t, "an error about the image", errors.As(err, &wrong), true)
	wrong.Op, wrong.Ref = "pull", ref // as a pull does
	w.registry.errs[ref] = wrong
	must.Equal(t, "read again after", w.settle("cat").RequeueAfter, 0)
	w.says("cat", "Progressing False Blocked 1: pull image "+ref+": InvalidImage: it is a bundle image, of package app (label operators.operatorframework.io.bundle.package.v1), and no catalog "+
		"(put it into a catalog with fairlead catalog add-bundle, push that, and name its image here; or install the bundle alone with fairlead install --image)", "Serving False Unavailable 1: ")
}
