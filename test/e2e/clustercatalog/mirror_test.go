package clustercatalog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mirrored is the operator of TestMirror.
const mirrored = `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"mirrored.v1.0.0"},"spec":{
	"displayName":"mirrored","version":"1.0.0","installModes":[{"type":"AllNamespaces","supported":true}],
	"install":{"strategy":"deployment","spec":{"deployments":[{"name":"mirrored","spec":{"replicas":1,"selector":{"matchLabels":{"app":"mirrored"}},
	"template":{"metadata":{"labels":{"app":"mirrored"}},"spec":{"containers":[{"name":"op","image":"registry.example.com/op:v1"}]}}}}]}}}}`

// TestMirror installs from a registry that nobody can reach, by way of the mirror that registries.conf names for it: catalog and bundle.
func TestMirror(t *testing.T) {
	w := newWorld(t)
	labels := image.BundleLabels("mirrored", []string{"stable"}, "stable")
	var annotations strings.Builder
	annotations.WriteString("annotations:\n")
	for key, value := range labels {
		fmt.Fprintf(&annotations, "  %s: %q\n", key, value)
	}
	w.pushFiles("org/bundle:v1.0.0", map[string]string{"manifests/csv.json": mirrored, "metadata/annotations.yaml": annotations.String()}, labels)
	w.pushFiles("org/catalog:latest", map[string]string{"configs/catalog.json": `{"schema":"olm.package","name":"mirrored","defaultChannel":"stable"}
		{"schema":"olm.channel","package":"mirrored","name":"stable","entries":[{"name":"mirrored.v1.0.0"}]}
		{"schema":"olm.bundle","package":"mirrored","name":"mirrored.v1.0.0","image":"registry.invalid/org/bundle:v1.0.0",
		"properties":[{"type":"olm.package","value":{"packageName":"mirrored","version":"1.0.0"}}]}`}, image.CatalogLabels())
	conf := filepath.Join(t.TempDir(), "registries.conf")
	must.NoError(t, os.WriteFile(conf, fmt.Appendf(nil, "[[registry]]\nlocation = \"registry.invalid\"\n[[registry.mirror]]\nlocation = %q\n", strings.TrimSuffix(w.ref(""), "/")), 0o600))
	for _, name := range []string{"olm", "mirrored"} {
		if err := w.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
	}
	w.run(func(o *manager.Options) { o.Images = image.Config{RegistriesConf: conf} })
	w.ask("mirrored", "registry.invalid/org/catalog:latest")
	if ref := w.says("mirrored", succeeded, available).Status.ResolvedSource.Image.Ref; !strings.HasPrefix(ref, "registry.invalid/org/catalog@sha256:") {
		t.Errorf("what is served is called %s", ref)
	}
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "mirrored"}, Spec: olmv1.ClusterExtensionSpec{Namespace: "mirrored",
		Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: "mirrored"}}}}
	harness.Create(t, w, ext)
	harness.Await(w, w, client.ObjectKeyFromObject(ext), ext, "the operator to run", func() error {
		if ext.Status.Install == nil || !meta.IsStatusConditionTrue(ext.Status.Conditions, olmv1.TypeAvailable) {
			return fmt.Errorf("its conditions are %+v", ext.Status.Conditions)
		}
		return nil
	})
	harness.Remove(t, w, ext)
	must.Eventually(w, "the extension to go", func() error {
		if harness.Read(t, w, "", ext.Name, ext) {
			return fmt.Errorf("it is there: %+v", ext.Status.Conditions)
		}
		return nil
	})
}
