package installplan

import (
	"context"
	"errors"
	"io/fs"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// bundles renders one bundle and counts how often.
type bundles struct {
	steps []bundle.Step
	err   error
	asked int
}

func (b *bundles) Steps(_ context.Context, namespace string, lookup v1alpha1.BundleLookup) ([]bundle.Step, error) {
	b.asked++
	if namespace != "ns" || lookup.Path != "registry/op@sha256:1" {
		return nil, errors.New("unexpected bundle " + lookup.Path)
	}
	return b.steps, b.err
}

func TestManifestsAreHadAgain(t *testing.T) {
	render := func(kind, manifest string) bundle.Step {
		u := &unstructured.Unstructured{}
		must.NoError(t, yaml.Unmarshal([]byte(manifest), &u.Object))
		return bundle.Step{Kind: kind, Object: u}
	}
	whole := []bundle.Step{render("ClusterServiceVersion", csvYAML), render("BundleSecret", secretYAML), render("Service", serviceYAML)}
	lookup := []v1alpha1.BundleLookup{{Identifier: "other.v1"}, {Identifier: "op.v1", Path: "registry/op@sha256:1"}}
	tests := map[string]struct {
		bundles *bundles
		lookups []v1alpha1.BundleLookup
		message string // of a plan that fails; empty is success
	}{
		"all is rendered once":     {&bundles{steps: whole}, lookup, ""},
		"the bundle has changed":   {&bundles{steps: whole[:2]}, lookup, "read the manifest of Service web: the content store has lost it, and bundle op.v1 does not hold it"},
		"the registry is down":     {&bundles{err: errors.New("503")}, lookup, "render bundle op.v1 again, because the content store has lost its manifests: 503"},
		"nobody knows the bundle":  {&bundles{steps: whole}, lookup[:1], "the InstallPlan does not say where it came from"},
		"there is no way to do it": {nil, lookup, "the content store no longer holds the manifest"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan := newPlan(step(t, csvYAML), step(t, secretYAML), step(t, serviceYAML))
			for _, s := range plan.Status.Plan {
				s.Resource.Manifest = "ref:lost"
			}
			plan.Status.BundleLookups = tc.lookups
			w := newWorld(t, plan)
			if tc.bundles != nil {
				w.controller.Bundles = tc.bundles
			}
			p := w.settle(t, 2*time.Minute)
			if tc.message != "" {
				must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseFailed)
				must.Contain(t, "message", p.Status.Message, tc.message)
				return
			}
			must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseComplete)
			must.Equal(t, p.Status.Message, tc.bundles.asked, 1)
			if !w.get(t, &corev1.Secret{}, "ns", "keys") {
				t.Error("the Secret does not exist")
			}
		})
	}
}

func TestManifestsByReference(t *testing.T) {
	referring := step(t, serviceYAML)
	w := newWorld(t, newPlan(step(t, csvYAML), referring))
	w.store["ref:1"] = referring.Resource.Manifest
	p := w.plan(t, "plan")
	p.Status.Plan[1].Resource.Manifest = "ref:1"
	must.NoError(t, w.Inner.Status().Update(t.Context(), p))
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || p.Status.Plan[1].Resource.Manifest != "ref:1" {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
}

func TestImages(t *testing.T) {
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	content := must.Value(fs.Sub(examples.Bundles, "bundles/greeter-operator/1.0.0"))(t)
	ref := strings.TrimPrefix(server.URL, "http://") + "/greeter:v1"
	must.Value(image.Push(t.Context(), ref, content, nil, image.PushOptions{}))(t)
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	source := &v1alpha1.CatalogSource{}
	source.Namespace, source.Name = "olm", "catalog"
	source.Spec.Secrets = []string{"pull"}
	lookup := func(path, catalog, properties string) v1alpha1.BundleLookup {
		return v1alpha1.BundleLookup{
			Identifier: "greeter-operator.v1.0.0", Path: path, Replaces: "greeter-operator.v0", Properties: properties,
			CatalogSourceRef: &corev1.ObjectReference{Namespace: "olm", Name: catalog},
		}
	}
	elsewhere := func(path string) v1alpha1.BundleLookup {
		l := lookup(path, "catalog", "")
		l.CatalogSourceRef.Namespace = "tenant"
		return l
	}
	tests := map[string]struct {
		lookup  v1alpha1.BundleLookup
		secrets bool // exist
		want    string
	}{
		"whole":                           {lookup(ref, "catalog", `{"properties":[{"type":"x","value":1}]}`), true, ""},
		"the catalog is gone":             {lookup(ref, "gone", ""), false, ""},
		"the pull secret is not":          {lookup(ref, "catalog", ""), false, "read pull secret olm/pull"},
		"no such image":                   {lookup(strings.Replace(ref, ":v1", ":v2", 1), "catalog", ""), true, "fetch bundle greeter-operator.v1.0.0"},
		"of a catalog that is not served": {lookup("", "catalog", ""), true, "catalog olm/catalog, which it is in, is still being loaded"},
		"of another tenant's catalog":     {elsewhere(""), true, "catalog tenant/catalog, which it is said to be in, is not in view of namespace ns"},
		"without its pull secrets":        {elsewhere(ref), false, ""},
		"odd properties":                  {lookup(ref, "catalog", `[`), true, "read the properties of bundle greeter-operator.v1.0.0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			theirs := source.DeepCopy()
			theirs.Namespace = "tenant" // names a pull secret that is not there: to ask for it is an error
			objects := []client.Object{source.DeepCopy(), theirs}
			if tc.secrets {
				objects = append(objects, pullSecret())
			}
			images := Images{Unpacker: bundleio.NewUnpacker(store, clock.RealClock{}, func() {}), Reader: newWorld(t, objects...), Catalogs: catalogstore.NewSet(), GlobalNamespace: "olm"}
			steps, err := images.Steps(t.Context(), "ns", tc.lookup)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error %v, want %q", err, tc.want)
				}
				return
			}
			if err != nil || len(steps) < 3 {
				t.Fatalf("%d steps, %v", len(steps), err)
			}
			first := steps[0].Object
			if replaces, _, _ := unstructured.NestedString(first.Object, "spec", "replaces"); first.GetNamespace() != "ns" || replaces != tc.lookup.Replaces {
				t.Errorf("%s %s replaces %q", first.GetKind(), first.GetNamespace(), replaces)
			}
			if want := tc.lookup.Properties; want != "" && first.GetAnnotations()[v1alpha1.PropertiesAnnotation] != want {
				t.Errorf("properties %s", first.GetAnnotations()[v1alpha1.PropertiesAnnotation])
			}
		})
	}
}
