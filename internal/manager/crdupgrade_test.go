package manager

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// owns makes the bundle of an operator own the CRD gears.<group>, with versions such as "v1 served stored" or, with a schema of spec.teeth,
// "v1 served stored {\"type\":\"integer\"}". The operator names the last version.
func (w *world) owns(o operator, group string, versions ...string) operator {
	w.t.Helper()
	o.mode = "AllNamespaces"
	var list []any
	last := ""
	for _, v := range versions {
		words, schema, _ := strings.Cut(v, "{")
		name, flags, _ := strings.Cut(strings.TrimSpace(words), " ")
		teeth := map[string]any{"type": "integer"}
		if schema != "" {
			if err := json.Unmarshal([]byte("{"+schema), &teeth); err != nil {
				w.t.Fatal(err)
			}
		}
		last = name
		list = append(list, map[string]any{"name": name, "served": strings.Contains(flags, "served"), "storage": strings.Contains(flags, "stored"),
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
				"spec": map[string]any{"type": "object", "properties": map[string]any{"teeth": teeth}}}}}})
	}
	crd := map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "gears." + group},
		"spec": map[string]any{"group": group, "scope": "Namespaced", "versions": list,
			"names": map[string]any{"plural": "gears", "singular": "gear", "kind": "Gear", "listKind": "GearList"}}}
	csv := map[string]any{}
	if err := json.Unmarshal(w.manifest(o), &csv); err != nil {
		w.t.Fatal(err)
	}
	owned := []any{map[string]any{"name": "gears." + group, "version": last, "kind": "Gear", "displayName": "Gear"}}
	if err := unstructured.SetNestedSlice(csv, owned, "spec", "customresourcedefinitions", "owned"); err != nil {
		w.t.Fatal(err)
	}
	o.files = map[string]string{"manifests/gears.json": text(w, crd), "manifests/csv.json": text(w, csv)}
	return o
}

func text(w *world, v any) string {
	w.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// gear makes an object.
func (w *world) gear(group, version, name string, teeth int64) {
	w.t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"teeth": teeth}}}
	o.SetAPIVersion(group + "/" + version)
	o.SetKind("Gear")
	o.SetNamespace(w.namespace)
	o.SetName(name)
	w.eventually("make Gear "+name, func() error { return client.IgnoreAlreadyExists(w.client.Create(w.t.Context(), o)) })
}

// gears waits until the CRD has some versions and lists some as stored.
func (w *world) gears(group, want string) {
	w.t.Helper()
	w.eventually("the CRD to have "+want, func() error {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := w.client.Get(w.t.Context(), client.ObjectKey{Name: "gears." + group}, &crd); err != nil {
			return err
		}
		var names []string
		for _, v := range crd.Spec.Versions {
			names = append(names, v.Name)
		}
		if got := strings.Join(names, " ") + ", stored " + strings.Join(crd.Status.StoredVersions, " "); got != want {
			return fmt.Errorf("it has %s", got)
		}
		return nil
	})
}

// fails waits until a plan for an operator has failed for a reason.
func (w *world) fails(csv, reason string) {
	w.t.Helper()
	w.eventually("the plan of "+csv+" to fail", func() error {
		var plans v1alpha1.InstallPlanList
		if err := w.client.List(w.t.Context(), &plans, client.InNamespace(w.namespace)); err != nil {
			return err
		}
		for i := range plans.Items {
			p := &plans.Items[i]
			if slices.Contains(p.Spec.ClusterServiceVersionNames, csv) && strings.Contains(p.Status.Message, reason) {
				return nil
			}
		}
		return fmt.Errorf("no plan says %q", reason)
	})
}

// TestCRDSchemas upgrades an operator whose CRD exists, with an object in the cluster.
func TestCRDSchemas(t *testing.T) {
	t.Parallel()
	const wide, narrow = `v1 served stored {"type":"integer"}`, `v1 served stored {"type":"integer","maximum":5}`
	tests := map[string]struct {
		before, after []string
		shared        bool   // with an operator in another namespace
		refused       string // in the message of the plan
		ends          string
	}{
		"compatible change, shared":                {[]string{wide}, []string{`v1 served stored {"type":"integer","maximum":50}`}, true, "", "v1, stored v1"},
		"incompatible with an existing CR, shared": {[]string{wide}, []string{narrow}, true, `updated validation is too restrictive: 1 of 1 objects become invalid`, "v1, stored v1"},
		"incompatible with an existing CR, alone":  {[]string{wide}, []string{narrow}, false, `updated validation is too restrictive: 1 of 1 objects become invalid`, "v1, stored v1"},
		"missing an existing version, shared":      {[]string{wide, "v2 served"}, []string{wide}, true, "every version that it serves must stay, but the new one does not serve v2", "v1 v2, stored v1"},
		"missing the stored version":               {[]string{wide}, []string{"v2 served stored"}, false, "risk of data loss updating", "v1, stored v1"},
		"keeping the stored version":               {[]string{wide}, []string{"v1 served", "v2 served stored"}, false, "", "v1 v2, stored v1 v2"},
		"deprecated field":                         {[]string{wide}, []string{`v1 served stored {"type":"integer","description":"Deprecated: not used."}`}, true, "", "v1, stored v1"},
		"a served version goes that one wrote in":  {[]string{"v1 served", "v2 served stored"}, []string{"v2 served stored"}, false, "1 of 1 objects were last written in it", "v1 v2, stored v2"},
		"a served version goes that none wrote in": {[]string{"v2 served stored", "v1 served"}, []string{"v2 served stored"}, false, "", "v2, stored v2"},
	}
	// Every day a refusal for another owner and one for the objects is followed to its end. TestUpgradeOfACRDOwner is the upgrade that succeeds.
	daily := []string{"missing an existing version, shared", "a served version goes that one wrote in"}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(daily, name) {
				sweep.Nightly(t, "TestCRDScenarios in internal/controller/installplan has the same rules with real CRDs")
			}
			w := newWorld(t)
			group := w.apiGroup()
			old := w.owns(operator{pkg: "op", version: "1.0.0"}, group, tc.before...)
			w.create(w.allNamespaces(), w.catalogSource(w.catalog(old)), w.subscribe("op"))
			w.succeeds("op.v1.0.0")
			w.gear(group, strings.Fields(tc.before[0])[0], "g", 9)
			if tc.shared {
				// Make an operator in another namespace that owns v1 of the CRD, as one that is installed there would.
				w.t.Helper()
				other := newWorldAlone(w.t)
				csv := &v1alpha1.ClusterServiceVersion{}
				if err := json.Unmarshal([]byte(w.owns(operator{pkg: "other", version: "1.0.0"}, group, "v1 served stored").files["manifests/csv.json"]), csv); err != nil {
					w.t.Fatal(err)
				}
				csv.Namespace = other.namespace
				w.create(csv)
				crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "gears." + group}}
				brought := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, bundle.InstalledAlongsideKey(csv.Namespace, csv.Name), csv.Namespace+"/"+csv.Name)
				if err := w.client.Patch(w.t.Context(), crd, client.RawPatch(types.MergePatchType, brought)); err != nil {
					w.t.Fatal(err)
				}
			}
			w.catalog(old, w.owns(operator{pkg: "op", version: "2.0.0"}, group, tc.after...))
			if tc.refused != "" {
				w.fails("op.v2.0.0", tc.refused)
			} else {
				w.succeeds("op.v2.0.0")
			}
			w.gears(group, tc.ends)
		})
	}
}

// TestDeprecatedVersionChain follows the documents' way: a version is added, the old one is turned off, and then removed.
func TestDeprecatedVersionChain(t *testing.T) {
	sweep.Nightly(t, "TestPlanGoesOnWithAMigrationAfterAKill in internal/controller/installplan goes this way with real CRDs")
	w := newWorld(t)
	group := w.apiGroup()
	chain := []operator{
		w.owns(operator{pkg: "op", version: "1.0.0"}, group, "v1alpha1 served stored"),
		w.owns(operator{pkg: "op", version: "2.0.0"}, group, "v1alpha1 served", "v1beta1 served stored"),
		w.owns(operator{pkg: "op", version: "3.0.0"}, group, "v1alpha1", "v1beta1 served stored"),
		w.owns(operator{pkg: "op", version: "4.0.0"}, group, "v1beta1 served stored"),
	}
	stages := []string{"v1alpha1, stored v1alpha1", "v1alpha1 v1beta1, stored v1alpha1 v1beta1", "v1alpha1 v1beta1, stored v1alpha1 v1beta1", "v1beta1, stored v1beta1"}
	for i, o := range chain {
		image := w.catalog(chain[:i+1]...)
		if i == 0 {
			w.create(w.allNamespaces(), w.catalogSource(image), w.subscribe("op"))
		}
		w.succeeds(o.name())
		w.gears(group, stages[i])
		if i == 0 {
			w.gear(group, "v1alpha1", "old", 3)
		}
	}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(group + "/v1beta1")
	o.SetKind("Gear")
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "old"}, o); err != nil {
		t.Errorf("what was stored as v1alpha1 cannot be read: %v", err)
	}
	if teeth, _, _ := unstructured.NestedInt64(o.Object, "spec", "teeth"); teeth != 3 {
		t.Errorf("it says %v", o.Object["spec"])
	}
}

// TestConversionIsSwitchedOnWhenEndpointsAreReady upgrades to a version that converts by a webhook. Its Service has endpoints a little
// after its Deployment is available.
func TestConversionIsSwitchedOnWhenEndpointsAreReady(t *testing.T) {
	sweep.Nightly(t, "TestConversionWaitsForAnEndpoint in internal/controller/clusterserviceversion, and TestNoRequestFailsWhileAConversionWebhookIsExchanged here")
	w := newWorld(t)
	group := w.apiGroup()
	old := w.owns(operator{pkg: "op", version: "1.0.0"}, group, "v1 served stored")
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(old)), w.subscribe("op"))
	w.succeeds("op.v1.0.0")
	converting := w.owns(operator{pkg: "op", version: "2.0.0"}, group, "v1 served stored", "v2 served")
	csv := map[string]any{}
	must.NoError(t, json.Unmarshal([]byte(converting.files["manifests/csv.json"]), &csv))
	webhooks := []any{map[string]any{"type": "ConversionWebhook", "generateName": "convert.gears", "deploymentName": "op", "containerPort": int64(443),
		"conversionCRDs": []any{"gears." + group}, "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "webhookPath": "/convert"}}
	must.NoError(t, unstructured.SetNestedSlice(csv, webhooks, "spec", "webhookdefinitions"))
	converting.files["manifests/csv.json"] = text(w, csv)
	w.catalog(old, converting)
	w.succeeds("op.v2.0.0")
	var crd apiextensionsv1.CustomResourceDefinition
	must.NoError(t, w.client.Get(t.Context(), client.ObjectKey{Name: "gears." + group}, &crd))
	c := crd.Spec.Conversion
	if c == nil || c.Strategy != apiextensionsv1.WebhookConverter || len(c.Webhook.ClientConfig.CABundle) == 0 {
		t.Fatalf("conversion %+v", c)
	}
	slices := &unstructured.UnstructuredList{}
	slices.SetAPIVersion("discovery.k8s.io/v1")
	slices.SetKind("EndpointSliceList")
	if err := w.client.List(t.Context(), slices, client.InNamespace(w.namespace), client.MatchingLabels{"kubernetes.io/service-name": c.Webhook.ClientConfig.Service.Name}); err != nil || len(slices.Items) == 0 {
		t.Errorf("%d EndpointSlices, %v", len(slices.Items), err)
	}
}

// TestUpgradeOfACRDOwner gives the API from one release to the next another version, which a second operator requires.
func TestUpgradeOfACRDOwner(t *testing.T) {
	w := newWorld(t)
	group := w.apiGroup()
	old := w.owns(operator{pkg: "op", version: "1.0.0"}, group, "v1 served stored")
	next := w.owns(operator{pkg: "op", version: "2.0.0"}, group, "v1 served", "v2 served stored")
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(old)), w.subscribe("op"))
	w.succeeds("op.v1.0.0")
	w.gear(group, "v1", "old", 3)
	w.catalog(old, next)
	w.succeeds("op.v2.0.0")
	w.gears(group, "v1 v2, stored v1 v2")
	w.gear(group, "v2", "new", 4)
	w.eventually("the CRD to say whom it is installed with", func() error {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := w.client.Get(t.Context(), client.ObjectKey{Name: "gears." + group}, &crd); err != nil {
			return err
		}
		var with []string
		for key, value := range crd.Annotations {
			if strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) {
				with = append(with, value)
			}
		}
		if !slices.Contains(with, w.namespace+"/op.v2.0.0") {
			return fmt.Errorf("it says %v", with)
		}
		return nil
	})
}

// TestCRDThatIsThereAlready has one made by hand, with an object: an operator uses it as it is, or adopts it where that is allowed, and takes nothing
// away.
func TestCRDThatIsThereAlready(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		there, brought string
		refused        string
		ends           string
	}{
		"the same":                           {"v1 served stored", "v1 served stored", "", "v1, stored v1"},
		"with another version":               {"v1 served stored", "v1 served, v2 served stored", "", "v1 v2, stored v1 v2"},
		"without what objects are stored in": {"v0 served stored", "v1 served stored", "risk of data loss updating", "v0, stored v0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.refused != "" {
				sweep.Nightly(t, "TestCRDScenarios in internal/controller/installplan refuses it with a real CRD")
			}
			w := newWorld(t)
			group := w.apiGroup()
			byHand := &apiextensionsv1.CustomResourceDefinition{}
			must.NoError(t, json.Unmarshal([]byte(w.owns(operator{pkg: "op", version: "0.0.0"}, group, tc.there).files["manifests/gears.json"]), byHand))
			byHand.Annotations = map[string]string{"made": "by hand"}
			if tc.there != tc.brought {
				byHand.Annotations[v1alpha1.AdoptableByAnnotation] = w.namespace
			}
			w.create(byHand)
			w.gear(group, strings.Fields(tc.there)[0], "old", 3)
			o := w.owns(operator{pkg: "op", version: "1.0.0"}, group, strings.Split(tc.brought, ", ")...)
			w.create(w.allNamespaces(), w.catalogSource(w.catalog(o)), w.subscribe("op"))
			if tc.refused != "" {
				w.fails("op.v1.0.0", tc.refused)
			} else {
				w.succeeds("op.v1.0.0")
				w.teeth(group, "v1", 3)
			}
			w.gears(group, tc.ends)
			var crd apiextensionsv1.CustomResourceDefinition
			if err := w.client.Get(t.Context(), client.ObjectKey{Name: "gears." + group}, &crd); err != nil || crd.Annotations["made"] != "by hand" {
				t.Errorf("annotations %v, %v", crd.Annotations, err)
			}
		})
	}
}
