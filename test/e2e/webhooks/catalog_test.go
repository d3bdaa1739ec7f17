package webhooks

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// push makes an image in the namespace's part of the registry.
func (w *world) push(name string, labels map[string]string, files map[string]any) string {
	w.Helper()
	contents := map[string][]byte{}
	for path, content := range files {
		text := must.Value(json.Marshal(content))(w)
		contents[path] = text
	}
	tree := must.Value(image.Files(contents))(w)
	ref := devcluster.Registry() + "/" + w.Namespace + "/" + name
	must.Value(image.Push(w.Context(), ref, tree, labels, image.PushOptions{}))(w)
	return ref
}

// pushCatalog makes a catalog of versions of an operator with its CRD, each of which replaces the one before, in package op.
func (w *world) pushCatalog(crd *apiextensionsv1.CustomResourceDefinition, versions ...*v1alpha1.ClusterServiceVersion) string {
	w.Helper()
	configs := map[string]any{"configs/package.json": map[string]any{"schema": "olm.package", "name": "op", "defaultChannel": "stable"}}
	var entries []any
	replaces := ""
	for _, csv := range versions {
		_, version, _ := strings.Cut(csv.Name, ".v")
		property := map[string]any{"type": "olm.package", "value": map[string]string{"packageName": "op", "version": version}}
		configs["configs/"+csv.Name+".json"] = map[string]any{"schema": "olm.bundle", "package": "op", "name": csv.Name, "image": w.pushBundle(crd, csv),
			"properties": []any{property}}
		entries = append(entries, map[string]string{"name": csv.Name, "replaces": replaces})
		replaces = csv.Name
	}
	configs["configs/channel.json"] = map[string]any{"schema": "olm.channel", "package": "op", "name": "stable", "entries": entries}
	return w.push(fmt.Sprintf("catalog:of%d", len(versions)), image.CatalogLabels(), configs)
}

func (w *world) pushBundle(crd *apiextensionsv1.CustomResourceDefinition, csv *v1alpha1.ClusterServiceVersion) string {
	w.Helper()
	csv.Namespace = ""
	csv.APIVersion, csv.Kind = v1alpha1.GroupVersion.String(), v1alpha1.ClusterServiceVersionKind
	labels := image.BundleLabels("op", []string{"stable"}, "stable")
	return w.push("bundle:"+csv.Name, labels, map[string]any{"manifests/csv.json": csv, "manifests/crd.json": crd,
		"metadata/annotations.json": map[string]any{"annotations": labels}})
}

// TestWebhooksFromACatalog: an operator is installed by a Subscription, and its webhooks validate, mutate and convert. The CRD of the bundle
// has an authority of its own, as generators write it, and does not get it.
func TestWebhooksFromACatalog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve("manager")
	crd := w.things()
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ConversionReviewVersions: []string{"v1"},
		ClientConfig:             &apiextensionsv1.WebhookClientConfig{CABundle: []byte("\n"), Service: &apiextensionsv1.ServiceReference{Namespace: "system", Name: "webhook-service"}},
	}}
	w.Make(w.everywhere())
	csv := w.operator("op.v1.0.0", fixture.Modes("AllNamespaces"), w.owns, w.hooks("manager", validating, mutating, converting))
	catalog := w.pushCatalog(crd, csv)
	w.Make(&v1alpha1.CatalogSource{ObjectMeta: w.Named("catalog"), Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: catalog}},
		&v1alpha1.Subscription{ObjectMeta: w.Named("op"), Spec: &v1alpha1.SubscriptionSpec{CatalogSource: "catalog", CatalogSourceNamespace: w.Namespace, Package: "op"}})
	w.Succeeds("op.v1.0.0")

	must.Eventually(w, "things to be refused", func() error { return w.judged(w.Namespace) })
	must.Eventually(w, "things to be mutated", func() error {
		thing := w.thing(w.Namespace, "v1", "", 7)
		thing.SetGenerateName("used-")
		if err := w.Create(t.Context(), thing); err != nil {
			return err
		}
		if got := thing.GetAnnotations()[mark]; got != w.Namespace+"/manager" {
			return fmt.Errorf("it was seen by %q", got)
		}
		return nil
	})
	w.Make(w.thing(w.Namespace, "v1", "used", 7))
	w.conversions(s, "used")
	if read := w.thing(w.Namespace, "v2", "used", 0); w.Read("used", read) && size(read) != 7*factor {
		t.Errorf("in v2 it has the size %d, want %d", size(read), 7*factor)
	}

	live := &apiextensionsv1.CustomResourceDefinition{}
	w.Read(crd.Name, live)
	must.Equal(t, "the CRD trusts", string(live.Spec.Conversion.Webhook.ClientConfig.CABundle), string(w.secret("manager-service-cert").Data["olmCAKey"]))
	generation := live.Generation
	// Make the controllers look at the operator and its plan again.
	touch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"example.com/looked-at":"yes"}}}`))
	var plans v1alpha1.InstallPlanList
	if err := w.List(w.Context(), &plans, client.InNamespace(w.Namespace)); err != nil || len(plans.Items) == 0 {
		w.Fatal(plans.Items, err)
	}
	objects := []client.Object{&v1alpha1.ClusterServiceVersion{ObjectMeta: w.Named("op.v1.0.0")}, &v1alpha1.Subscription{ObjectMeta: w.Named("op")}}
	for i := range plans.Items {
		objects = append(objects, &plans.Items[i])
	}
	for _, o := range objects {
		must.NoError(w, w.Patch(w.Context(), o, touch))
	}
	time.Sleep(time.Second) // nothing is waited for: whoever else writes the CRD would have done so
	if w.Read(crd.Name, live); live.Generation != generation {
		t.Errorf("somebody goes on writing the CRD: generation %d, then %d; %v", generation, live.Generation, live.ManagedFields)
	}
}
