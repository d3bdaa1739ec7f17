package resolution

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// kept keeps manifests, but for those with some text, and refers to them by their names.
type kept struct {
	manifests map[string][]byte
	refuses   string
}

func (k kept) Refer(_ context.Context, manifest []byte) (string, error) {
	var u unstructured.Unstructured
	if err := json.Unmarshal(manifest, &u.Object); err != nil {
		return "", err
	}
	if k.refuses != "" && u.GetName() == k.refuses {
		return "", errors.New("no space left on device")
	}
	k.manifests[u.GetName()] = manifest
	return "ref of " + u.GetName(), nil
}

func (k kept) Store(ctx context.Context, manifest []byte) (string, error) {
	return k.Refer(ctx, manifest)
}

func chosen() Choice {
	return Choice{Catalog: catalog.Ref{Namespace: "olm", Name: "operators"}, Channel: "stable", Replaces: "kite.v1.1.0",
		Bundle: &catalog.BundleInfo{Name: "kite.v1.2.0", Package: "kite", Image: "registry.example/kite:v1.2.0",
			Properties: []catalog.Property{{Type: "olm.maxOpenShiftVersion", Value: json.RawMessage(`"4.20"`)}}}}
}

func load(t *testing.T) *bundle.Bundle {
	t.Helper()
	b := must.Value(bundle.Load(fstest.MapFS{
		"metadata/annotations.yaml": {Data: []byte("annotations:\n  operators.operatorframework.io.bundle.mediatype.v1: registry+v1\n  operators.operatorframework.io.bundle.package.v1: kite\n")},
		"manifests/csv.yaml": {Data: []byte(`apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: kite.v1.2.0}
spec: {version: 1.2.0, install: {strategy: deployment, spec: {deployments: []}}}
`)},
		"manifests/secret.yaml": {Data: []byte("{apiVersion: v1, kind: Secret, metadata: {name: token}}")},
		"manifests/map.yaml":    {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")},
	}))(t)
	return b
}

func TestSteps(t *testing.T) {
	store := kept{manifests: map[string][]byte{}}
	steps := must.Value(PlanWriter{Manifests: store, Namespace: "sky"}.Steps(t.Context(), chosen(), load(t)))(t)
	step := func(group, version, kind, name string) *v1alpha1.Step {
		return &v1alpha1.Step{Resolving: "kite.v1.2.0", Status: v1alpha1.StepStatusUnknown, Resource: v1alpha1.StepResource{CatalogSource: "operators", CatalogSourceNamespace: "olm",
			Group: group, Version: version, Kind: kind, Name: name, Manifest: "ref of " + name}}
	}
	// A Secret of a bundle is listed under a kind of its own.
	want := []*v1alpha1.Step{step("operators.coreos.com", "v1alpha1", "ClusterServiceVersion", "kite.v1.2.0"), step("", "v1", "ConfigMap", "settings"), step("", "v1", "BundleSecret", "token")}
	must.Equal(t, "steps", steps, want)
	var csv v1alpha1.ClusterServiceVersion
	if err := json.Unmarshal(store.manifests["kite.v1.2.0"], &csv); err != nil || csv.Namespace != "sky" || csv.Spec.Replaces != "kite.v1.1.0" || !strings.Contains(csv.Annotations["operatorframework.io/properties"], `"4.20"`) {
		t.Errorf("%v: the ClusterServiceVersion is not made for its place: %s", err, store.manifests["kite.v1.2.0"])
	}
	if text := string(store.manifests["settings"]); !strings.Contains(text, `"namespace":"sky"`) {
		t.Errorf("the ConfigMap goes nowhere: %s", text)
	}
}

func TestStepsThatCannotBeMade(t *testing.T) {
	broken := chosen()
	broken.Bundle.Properties[0].Value = json.RawMessage("{")
	for name, c := range map[string]struct {
		store Manifests
		of    Choice
		want  string
	}{
		"nowhere to keep one":  {kept{map[string][]byte{}, "settings"}, chosen(), "plan ConfigMap settings of bundle kite.v1.2.0: no space left on device"},
		"a property is broken": {kept{map[string][]byte{}, ""}, broken, "render the objects of bundle kite.v1.2.0 for namespace sky: "},
	} {
		t.Run(name, func(t *testing.T) {
			steps, err := PlanWriter{Manifests: c.store, Namespace: "sky"}.Steps(t.Context(), c.of, load(t))
			if steps != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v; want %q", steps, err, c.want)
			}
		})
	}
}

// TestSubscription is what a dependency is kept up to date with. It is small, and is never kept elsewhere.
func TestSubscription(t *testing.T) {
	got := must.Value(PlanWriter{Namespace: "sky"}.Subscription("install-abc", chosen()))(t)
	const name = "kite-stable-operators-olm"
	var sub v1alpha1.Subscription
	must.NoError(t, json.Unmarshal([]byte(got.Resource.Manifest), &sub))
	want := v1alpha1.Subscription{Spec: &v1alpha1.SubscriptionSpec{CatalogSource: "operators", CatalogSourceNamespace: "olm", Package: "kite", Channel: "stable", StartingCSV: "kite.v1.2.0", InstallPlanApproval: v1alpha1.ApprovalAutomatic}}
	want.APIVersion, want.Kind, want.Namespace, want.Name = "operators.coreos.com/v1alpha1", "Subscription", "sky", name
	want.Annotations = map[string]string{v1alpha1.GeneratedByAnnotation: "install-abc"}
	must.Equal(t, "sub", sub, want)
	got.Resource.Manifest = ""
	if diff := cmp.Diff(&v1alpha1.Step{Resolving: "kite.v1.2.0", Status: v1alpha1.StepStatusUnknown, Resource: v1alpha1.StepResource{CatalogSource: "operators", CatalogSourceNamespace: "olm",
		Group: "operators.coreos.com", Version: "v1alpha1", Kind: "Subscription", Name: name}}, got); diff != "" {
		t.Errorf("the step (-want +got):\n%s", diff)
	}
}

func TestLookup(t *testing.T) {
	const pinned = "registry.example/kite@sha256:1"
	got := LookupOf(chosen(), pinned, image.Origin{Ref: "registry.example/catalog:v1", Digest: "sha256:c"})
	if got.Path != pinned || got.Identifier != "kite.v1.2.0" || got.Replaces != "kite.v1.1.0" || got.CatalogSourceRef.Namespace != "olm" || got.CatalogSourceRef.Name != "operators" {
		t.Errorf("%+v", got)
	}
	if want := `{"properties":[{"type":"olm.maxOpenShiftVersion","value":"4.20"}],"operators.fairlead.dev/origin":{"requested":"registry.example/kite:v1.2.0"}}`; got.Properties != want {
		t.Errorf("properties %s, want %s", got.Properties, want)
	}
	bare := chosen()
	bare.Bundle.Properties, bare.Bundle.Image = nil, pinned
	if got := LookupOf(bare, pinned, image.Origin{}); got.Properties != `{"operators.fairlead.dev/origin":{"catalog":{"ref":"","digest":""}}}` {
		t.Errorf("no properties are %s", got.Properties)
	}
}

// TestOrigin: what a plan was made of is recorded where its image does not say it.
func TestOrigin(t *testing.T) {
	const pinned = "registry.example/kite@sha256:1"
	from := image.Origin{Ref: "registry.example/catalog:v1", Digest: "sha256:c"}
	for name, test := range map[string]struct {
		image, path string
		from        image.Origin
		want        *BundleOrigin
	}{
		"by tag":                        {"registry.example/kite:v1", pinned, from, &BundleOrigin{Requested: "registry.example/kite:v1"}},
		"by tag, not resolved yet":      {"registry.example/kite:v1", "registry.example/kite:v1", from, nil},
		"by digest":                     {pinned, pinned, from, &BundleOrigin{Catalog: &from}},
		"by tag and digest":             {"registry.example/kite:v1@sha256:1", pinned, from, &BundleOrigin{Catalog: &from}},
		"by digest, of no image":        {pinned, pinned, image.Origin{Digest: "sha256:c"}, &BundleOrigin{Catalog: &image.Origin{Digest: "sha256:c"}}},
		"in the image of a catalog":     {"", "", from, &BundleOrigin{Catalog: &from}},
		"in a catalog without an image": {"", "", image.Origin{Digest: "sha256:c"}, &BundleOrigin{Catalog: &image.Origin{Digest: "sha256:c"}}},
	} {
		t.Run(name, func(t *testing.T) {
			choice := chosen()
			choice.Bundle.Image = test.image
			lookup := LookupOf(choice, test.path, test.from)
			must.Equal(t, "origin of", OriginOf(lookup), test.want)
			if test.want != nil && (test.want.NamedBy() != nil) != (test.want.Catalog != nil && test.want.Catalog.Ref != "") {
				t.Errorf("named by %v", test.want.NamedBy())
			}
			var others struct{ Properties []catalog.Property } // as clients read it
			if err := json.Unmarshal([]byte(lookup.Properties), &others); err != nil || len(others.Properties) != 1 {
				t.Errorf("%v: others read %v", err, others)
			}
		})
	}
	for _, text := range []string{"", "{", "{}", `{"operators.fairlead.dev/origin": 3}`} {
		if got := OriginOf(v1alpha1.BundleLookup{Properties: text}); got != nil {
			t.Errorf("%q has origin %+v", text, got)
		}
	}
}

// TestPinLookup: a path by tag becomes one by digest, and the tag and the properties are kept.
func TestPinLookup(t *testing.T) {
	const tag = "registry.example/kite:v1"
	for _, properties := range []string{"", `{"properties":[{"type":"x","value":1}]}`} {
		got := PinLookup(v1alpha1.BundleLookup{Path: tag, Properties: properties}, "sha256:1")
		if got.Path != "registry.example/kite@sha256:1" || OriginOf(got).Requested != tag || strings.Contains(got.Properties, `{"type":"x","value":1}`) != (properties != "") {
			t.Errorf("%+v", got)
		}
		must.Equal(t, "a digest is replaced", PinLookup(got, "sha256:2"), got)
	}
	for _, l := range []v1alpha1.BundleLookup{{Path: ""}, {Path: tag, Properties: "{"}} {
		must.Equal(t, "result", PinLookup(l, "sha256:1"), l)
	}
}

// TestOrder: what others name as their owner, then what others are of, then the rest as they were.
func TestOrder(t *testing.T) {
	var steps []*v1alpha1.Step
	for _, kind := range []string{"Secret", "CustomResourceDefinition", "ClusterRole", "ClusterServiceVersion", "ConfigMap", "CustomResourceDefinition", "ClusterServiceVersion"} {
		steps = append(steps, &v1alpha1.Step{Resource: v1alpha1.StepResource{Kind: kind, Name: string(rune('a' + len(steps)))}})
	}
	OrderSteps(steps)
	var got []string
	for _, s := range steps {
		got = append(got, s.Resource.Kind+" "+s.Resource.Name)
	}
	want := []string{"ClusterServiceVersion d", "ClusterServiceVersion g", "CustomResourceDefinition b", "CustomResourceDefinition f", "Secret a", "ClusterRole c", "ConfigMap e"}
	must.Equal(t, "got", got, want)
}

// TestLookupPackage: bundles of several packages may have one name.
func TestLookupPackage(t *testing.T) {
	for properties, want := range map[string]string{
		`{"properties":[{"type":"x","value":1},{"type":"olm.package","value":{"packageName":"kite","version":"1.0.0"}}]}`: "kite",
		`{"properties":[{"type":"olm.package","value":"kite"}]}`:                                                          "",
		`{"properties":[]}`: "",
		"{":                 "",
		"":                  "",
	} {
		must.Equal(t, "package of "+properties, LookupPackage(v1alpha1.BundleLookup{Properties: properties}), want)
	}
}

// shelf keeps manifests under references as long as those of the content store.
type shelf map[string]string

func (s shelf) Refer(_ context.Context, manifest []byte) (string, error) {
	return string(manifest), nil
}

func (s shelf) Store(_ context.Context, manifest []byte) (string, error) {
	text := fmt.Sprintf(`{"kind":"ContentReference","digest":"sha256:%x","size":%d}`, sha256.Sum256(manifest), len(manifest))
	s[text] = string(manifest)
	return text, nil
}

func stepsOf(n int, kind, manifest string) []*v1alpha1.Step {
	steps := make([]*v1alpha1.Step, n)
	for i := range steps {
		steps[i] = &v1alpha1.Step{Resolving: "op.v1", Status: v1alpha1.StepStatusUnknown,
			Resource: v1alpha1.StepResource{CatalogSource: "cat", CatalogSourceNamespace: "olm", Version: "v1", Kind: kind, Name: fmt.Sprintf("object-%d", i), Manifest: manifest}}
	}
	return steps
}

// TestFit has plans whose manifests are small one by one, and large together.
func TestFit(t *testing.T) {
	plain, escaped := strings.Repeat("x", 1900), strings.Repeat("<", 1900)
	for name, tc := range map[string]struct {
		steps []*v1alpha1.Step
		whole int // how many manifests stay in the plan; -1 is all
	}{
		"few":                                    {stepsOf(100, "ConfigMap", plain), -1},
		"900":                                    {stepsOf(900, "ConfigMap", plain), maxInlined / 1902},
		"with characters that JSON makes longer": {stepsOf(900, "ConfigMap", escaped), maxInlined / 11402},
		"smaller than a reference":               {stepsOf(2000, "ConfigMap", strings.Repeat("x", referenced-10)), -1},
		"Subscriptions, which no bundle holds":   {stepsOf(300, "Subscription", plain), -1},
	} {
		t.Run(name, func(t *testing.T) {
			kept := shelf{}
			status := &v1alpha1.InstallPlanStatus{Plan: tc.steps}
			before := tc.steps[len(tc.steps)-1].Resource.Manifest
			must.NoError(t, (PlanWriter{Manifests: kept}).Fit(t.Context(), status))
			whole := 0
			for _, s := range status.Plan {
				if s.Resource.Manifest == before {
					whole++
				} else if kept[s.Resource.Manifest] != before {
					t.Fatalf("step %s holds %.100s", s.Resource.Name, s.Resource.Manifest)
				}
			}
			if want := tc.whole; want >= 0 && (whole > want || whole < want*9/10) || want < 0 && whole != len(tc.steps) {
				t.Errorf("%d of %d manifests are in the plan, want %d", whole, len(tc.steps), want)
			}
			if text, err := json.Marshal(status); err != nil || len(text) > MaxPlanContent {
				t.Errorf("%v: %d bytes", err, len(text))
			}
			again := status.DeepCopy()
			if err := (PlanWriter{Manifests: kept}).Fit(t.Context(), again); err != nil || encodedSize(again) != encodedSize(status) {
				t.Errorf("fitting it again makes another plan of it: %v", err)
			}
		})
	}
}

// TestFitRefusesWhatNeverFits: of so many objects not even the list fits.
func TestFitRefusesWhatNeverFits(t *testing.T) {
	status := &v1alpha1.InstallPlanStatus{Plan: stepsOf(5000, "ConfigMap", strings.Repeat("x", 1900))}
	err := PlanWriter{Manifests: shelf{}}.Fit(t.Context(), status)
	if !errors.Is(err, bundle.ErrUnwritable) || !strings.Contains(err.Error(), "list the 5000 objects") || !strings.Contains(err.Error(), "the limit is 1048576") {
		t.Errorf("%v", err)
	}
	long := &v1alpha1.InstallPlanStatus{BundleLookups: []v1alpha1.BundleLookup{{Properties: strings.Repeat("x", MaxPlanContent)}}}
	if err := (PlanWriter{Manifests: shelf{}}).Fit(t.Context(), long); !errors.Is(err, bundle.ErrUnwritable) {
		t.Errorf("properties of a bundle count as well: %v", err)
	}
}
