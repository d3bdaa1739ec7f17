package installplan

import (
	"encoding/json"
	"io/fs"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
)

// foreignPlan is a plan as another implementation makes it, which keeps manifests in ConfigMaps: it was approved, and not carried out.
func foreignPlan(t *testing.T, path string) *v1alpha1.InstallPlan {
	t.Helper()
	content := must.Value(fs.Sub(examples.Bundles, "bundles/greeter-operator/1.0.0"))(t)
	b := must.Value(bundle.Load(content))(t)
	rendered := must.Value(bundle.PlanSteps(b, bundle.StepTarget{Namespace: "ns"}))(t)
	const properties = `{"properties":[{"type":"olm.package","value":{"packageName":"greeter-operator","version":"1.0.0"}}]}`
	manifest := must.Value(json.Marshal(map[string]string{
		"kind": "ConfigMap", "name": strings.Repeat("4f", 31) + "a", "namespace": "olm", "catalogSourceName": "catalog",
		"catalogSourceNamespace": "olm", "replaces": "", "properties": properties,
	}))(t)
	p := newPlan()
	p.Spec = v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{b.Name}, Approval: v1alpha1.ApprovalManual, Approved: true, Generation: 1}
	p.Labels = map[string]string{"operators.coreos.com/greeter-operator.ns": ""}
	p.Status.CatalogSources = []string{"catalog"}
	for _, s := range rendered {
		gvk := s.Object.GroupVersionKind()
		p.Status.Plan = append(p.Status.Plan, &v1alpha1.Step{Resolving: b.Name, Status: v1alpha1.StepStatusUnknown, Resource: v1alpha1.StepResource{
			CatalogSource: "catalog", CatalogSourceNamespace: "olm", Group: gvk.Group, Version: gvk.Version, Kind: s.Kind, Name: s.Object.GetName(), Manifest: string(manifest),
		}})
	}
	if path != "" {
		p.Status.BundleLookups = []v1alpha1.BundleLookup{{
			Path: path, Identifier: b.Name, Properties: properties, CatalogSourceRef: &corev1.ObjectReference{Namespace: "olm", Name: "catalog"},
		}}
	}
	return p
}

// TestPlansOfTheOtherImplementation are carried out: their manifests come from the images of the bundles, or from the catalog, as soon
// as these can be had. They never fail because of that.
func TestPlansOfTheOtherImplementation(t *testing.T) {
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	registry := strings.TrimPrefix(server.URL, "http://")
	push := func(t *testing.T, ref string) {
		t.Helper()
		content := must.Value(fs.Sub(examples.Bundles, "bundles/greeter-operator/1.0.0"))(t)
		must.Value(image.Push(t.Context(), ref, content, nil, image.PushOptions{}))(t)
	}
	push(t, registry+"/there:v1")
	greeter := offer{pkg: "greeter-operator", version: "1.0.0", image: registry + "/there:v1"}
	tests := map[string]struct {
		plan    *v1alpha1.InstallPlan
		message string // what it waits for; empty is nothing
		mend    func(*testing.T, *world)
	}{
		"approved": {foreignPlan(t, registry+"/there:v1"), "", nil},
		"the image is away": {foreignPlan(t, registry+"/later:v1"), "fetch bundle greeter-operator.v1.0.0",
			func(t *testing.T, _ *world) { push(t, registry+"/later:v1") }},
		"only the catalog is known": {foreignPlan(t, ""), "catalog olm/catalog, which it is in, is still being loaded",
			func(t *testing.T, w *world) { w.shop(t, "olm", "catalog", greeter) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
			w := newWorld(t, tc.plan, catalogSource("olm", "catalog", 0))
			w.controller.Manifests = bundleio.Manifests{Blobs: blobs{}}
			w.controller.Bundles = Images{Unpacker: bundleio.NewUnpacker(store, realClock{w.Clock}, func() {}), Reader: w, Catalogs: w.controller.Catalogs, GlobalNamespace: "olm"}
			p := w.settle(t, 20*time.Minute)
			if tc.message != "" {
				if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || !strings.Contains(p.Status.Message, tc.message) {
					t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
				}
				tc.mend(t, w)
				w.Clock.SetTime(w.Clock.Now().Add(10 * time.Minute))
				p = w.settle(t, time.Minute)
			}
			hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
			got := &v1alpha1.ClusterServiceVersion{}
			if !w.get(t, got, "ns", "greeter-operator.v1.0.0") || got.Annotations[v1alpha1.PropertiesAnnotation] == "" {
				t.Errorf("ClusterServiceVersion: %v", got.ObjectMeta)
			}
			if before := tc.plan.Status.Plan[0].Resource.Manifest; p.Status.Plan[0].Resource.Manifest != before {
				t.Error("the steps were changed")
			}
		})
	}
}

// TestForeignPlanHalfDone has the first steps done already: they are not done again.
func TestForeignPlanHalfDone(t *testing.T) {
	plan := foreignPlan(t, "registry.invalid/none:v1")
	for _, s := range plan.Status.Plan {
		if s.Status = v1alpha1.StepStatusCreated; s.Resource.Kind == v1alpha1.ClusterServiceVersionKind {
			s.Status = v1alpha1.StepStatusPresent
		}
	}
	w := newWorld(t, plan)
	w.controller.Manifests = bundleio.Manifests{Blobs: blobs{}}
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
	if got := w.Taken(); len(got) != 1 {
		t.Errorf("writes %v, want the status alone", got)
	}
}
