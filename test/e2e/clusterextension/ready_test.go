package clusterextension

import (
	"fmt"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// kstatus is what Flux and Helm take an extension for.
func kstatus(t *testing.T, ext *olmv1.ClusterExtension) status.Status {
	t.Helper()
	ext = ext.DeepCopy()
	ext.SetGroupVersionKind(olmv1.GroupVersion.WithKind(olmv1.ClusterExtensionKind))
	object := must.Value(runtime.DefaultUnstructuredConverter.ToUnstructured(ext))(t)
	return must.Value(status.Compute(&unstructured.Unstructured{Object: object}))(t).Status
}

// TestReady: an extension is current for kstatus when the version that the latest spec asks for runs, and at no time before. The API server gives it a
// status that says so before any controller has come to it.
func TestReady(t *testing.T) {
	w := newWorld(t)
	pkg := w.name
	w.publish(operator{pkg: pkg, version: "1.0.0"}, operator{pkg: pkg, version: "1.1.0", replaces: "1.0.0", files: map[string]string{"config": configMap(pkg, "x")}})
	runs := func(bundle string) {
		t.Helper()
		w.until(bundle+" runs for kstatus", func() (bool, string) {
			ext := w.extension(w.name)
			is, installed := kstatus(t, ext), ""
			if ext.Status.Install != nil {
				installed = ext.Status.Install.Bundle.Name
			}
			available := meta.IsStatusConditionTrue(ext.Status.Conditions, olmv1.TypeAvailable)
			if is == status.CurrentStatus && (installed != bundle || !available) {
				t.Errorf("kstatus says that the extension is current, and %q is installed, available is %t: %+v", installed, available, ext.Status)
			}
			return is == status.CurrentStatus, fmt.Sprintf("%s: %+v", is, ext.Status.Conditions)
		})
	}
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}, Spec: olmv1.ClusterExtensionSpec{Namespace: w.name,
		Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: pkg, Version: "1.0.0",
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{olmv1.MetadataNameKey: w.name}}}}}}
	w.create(ext)
	must.Equal(t, "observed generation that the API server answers with", ext.Status.ObservedGeneration, int64(reconcile.Unobserved))
	must.Equal(t, "kstatus of what was just created", kstatus(t, ext), status.InProgressStatus)
	runs(pkg + ".v1.0.0")

	w.change(w.name, version("1.1.0"))
	runs(pkg + ".v1.1.0")

	w.change(w.name, version("9.0.0"))
	w.says(w.name, reconcile.TypeStalled, "True", "VersionNotFound", "9.0.0")
	must.Equal(t, "kstatus with a version that is not there", kstatus(t, w.extension(w.name)), status.FailedStatus)
	w.change(w.name, version("1.1.0"))
	runs(pkg + ".v1.1.0")
}
