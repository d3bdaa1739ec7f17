package clusterserviceversion

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestRealOperators brings a bundle of each package to Succeeded, in a group that targets all namespaces if the operator
// can do that and its own namespace if not. CRDs and APIs that other operators provide are there.
func TestRealOperators(t *testing.T) {
	newest := map[string]string{}
	trees := publicdata.BundleTrees(t)
	for name := range trees {
		newest[path.Dir(name)] = max(newest[path.Dir(name)], name)
	}
	for _, name := range newest {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			installReal(t, trees[name])
		})
	}
}

func installReal(t *testing.T, files fs.FS) {
	b := must.Value(bundle.Load(files))(t)
	csv := b.CSV
	csv.Namespace, csv.UID, csv.ResourceVersion = ns, types.UID(csv.Name), ""
	targets := []string{ns}
	if slices.ContainsFunc(csv.Spec.InstallModes, func(m installMode) bool { return m.Type == "AllNamespaces" && m.Supported }) {
		targets = []string{""}
	}
	k := newCluster(t, csv, newGroup(targets...))
	for _, api := range csv.Spec.NativeAPIs {
		k.serve(schema.GroupVersionKind(api))
	}
	k.create(permissions(t, csv)...)
	k.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: defaultAccount}})
	k.create(crdsOf(t, b)...)
	for _, crd := range csv.Spec.CustomResourceDefinitions.Required {
		if !k.get("", crd.Name, &apiextensionsv1.CustomResourceDefinition{}) {
			k.create(newCRD(crd.Name, crd.Version))
		}
	}

	start := time.Now()
	expect(t, k.pass(csv.Name), toInstalling, "InstallWaiting", "")
	k.rollOut()
	done := k.pass(csv.Name)
	expect(t, done, toSucceeded, "InstallSucceeded", "")
	took := time.Since(start)
	k.rests(csv.Name)
	if want, got := admissionWebhooks(csv), k.webhookConfigurations(); len(got) != want {
		t.Errorf("%d webhook configurations, want %d: %v", len(got), want, got)
	}
	t.Logf("%s: two passes took %s", csv.Name, took.Round(time.Millisecond))
}

// crdsOf are the CRDs of a bundle, established.
func crdsOf(t *testing.T, b *bundle.Bundle) []client.Object {
	t.Helper()
	var out []client.Object
	for _, object := range b.Objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		if object.GetAPIVersion() != "apiextensions.k8s.io/v1" {
			t.Skipf("CRD %s is %s, which clusters no longer serve", object.GetName(), object.GetAPIVersion())
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		text, err := json.Marshal(object.Object)
		if err == nil {
			err = json.Unmarshal(text, crd)
		}
		must.NoError(t, err)
		crd.Status = newCRD("").Status
		crd.SetAnnotations(map[string]string{bundle.InstalledAlongsideKey(ns, b.CSV.Name): ns + "/" + b.CSV.Name})
		trimmed := must.Value(trimCRD(crd))(t)
		out = append(out, trimmed.(runtime.Object).(client.Object))
	}
	return out
}
