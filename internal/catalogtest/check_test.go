package catalogtest

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
)

// seeded are the bundles of a seed by name, and its catalog.
func seeded(t *testing.T, s fixture.Seed, registry string) (map[string]*bundle.Bundle, *catalog.Catalog) {
	t.Helper()
	var published []bundleio.PublishedBundle
	bundles := map[string]*bundle.Bundle{}
	for _, source := range must.Value(bundleio.ReadSource(s.Tree(registry)))(t) {
		bundles[source.Bundle.Name] = source.Bundle
		published = append(published, bundleio.PublishedBundle{Bundle: source.Bundle, Image: registry + "/widget-bundle:v" + source.Bundle.Version.String()})
	}
	return bundles, must.Value(s.Catalog(published))(t)
}

// check is what Checker finds in all of a package under an API, by rule: the places.
func check(t *testing.T, api API, pkg string, c *catalog.Catalog, bundles map[string]*bundle.Bundle) map[Rule][]string {
	t.Helper()
	checker := NewChecker(c, must.Value(catalog.NewIndex(c, "sha256:0"))(t))
	found := map[Rule][]string{}
	note := func(place string, findings []Finding) {
		for _, f := range findings {
			if f.Message == "" || f.Remedy == "" {
				t.Errorf("%s: a finding without words: %+v", place, f)
			}
			if !slices.Contains(found[f.Rule], place) {
				found[f.Rule] = append(found[f.Rule], place)
			}
		}
	}
	for _, r := range checker.Package(pkg, api) {
		note(r.Edge.String(), r.Findings)
	}
	walks, _ := Walks(must.Value(graph.UpgradesOf(c, pkg, graph.Semantics(api)))(t), nil)
	for _, w := range walks {
		for _, e := range w.Edges {
			note(e.String(), must.Value(checker.Edge(t.Context(), api, e, bundles[e.From], bundles[e.To]))(t))
		}
	}
	return found
}

// TestSeededFaults demands that each fault is found by its rule, and by no other.
func TestSeededFaults(t *testing.T) {
	for _, s := range fixture.Seeds() {
		t.Run(s.Name, func(t *testing.T) {
			bundles, c := seeded(t, s, "registry.example.com/widgets")
			for api, rule := range map[API]string{V0: s.V0, V1: s.V1} {
				found := check(t, api, fixture.SeededPackage, c, bundles)
				if rule == "" || slices.Contains(s.Live, string(api)) {
					must.Equal(t, string(api)+": findings", found, map[Rule][]string{})
					continue
				}
				places := found[Rule(rule)]
				if len(found) != 1 || len(places) == 0 {
					t.Errorf("%s: found %v, want %s alone", api, found, rule)
				}
				if from, to, ok := strings.Cut(s.At, " "); ok && !slices.Contains(places, "widget-operator.v"+from+" -> widget-operator.v"+to) {
					t.Errorf("%s: found at %v, want %s", api, places, s.At)
				}
			}
		})
	}
}

// TestSeedsCanBeInstalled: no seed is refused for what it is not about.
func TestSeedsCanBeInstalled(t *testing.T) {
	for _, s := range fixture.Seeds() {
		bundles, c := seeded(t, s, "registry.example.com/widgets")
		for _, b := range bundles {
			if errs := bundle.Validate(b).Errors(); len(errs) > 0 && s.V0 != string(WebhookCertificate) {
				t.Errorf("%s: %v", s.Name, errs)
			}
		}
		if problems := catalog.Validate(c); len(problems) > 0 && s.V0 != string(TwoHeads) {
			t.Errorf("%s: %v", s.Name, problems)
		}
	}
}

func TestWhatFindingsSay(t *testing.T) {
	want := map[string]Finding{
		"schema narrowed": {SchemaNarrowed, "CustomResourceDefinition.apiextensions.k8s.io widgets.widgets.example.com", "custom resources that are valid may not stay so: v1: ^.spec.size: maximum: maximum lowered from 100 to 10", "do not lower maximum"},
		"selector changed": {ImmutableSelector, "Deployment.apps widget-operator", "the selector changes from app=widget to app=widget,tier=control, which the API server refuses",
			"keep the selector, or give the Deployment another name"},
		"permission grown": {PermissionGrown, "ClusterServiceVersion.operators.coreos.com widget-operator.v1.0.1",
			"asks for more than widget-operator.v1.0.0: ServiceAccount operators/widget-operator:; +", "release a minor version"},
		"owner missing": {DependencyMissing, "", `widget-operator.v1.1.0: nothing in the catalog is `, "add it to the catalog, correct the need, or tell users which other catalog has it"},
		"webhook without certificate": {WebhookCertificate, "ClusterServiceVersion.operators.coreos.com widget-operator.v1.1.0",
			`spec.webhookdefinitions[0].deploymentName: "widget-webhooks" is not a Deployment of the install strategy`, "name a Deployment of the install strategy"},
	}
	for _, s := range fixture.Seeds() {
		expected, ok := want[s.Name]
		if !ok {
			continue
		}
		bundles, c := seeded(t, s, "registry.example.com/widgets")
		from, to, _ := strings.Cut(cmp.Or(s.At, "1.0.1 1.1.0"), " ")
		e := Edge{Package: fixture.SeededPackage, From: "widget-operator.v" + from, To: "widget-operator.v" + to}
		findings := must.Value(NewChecker(c, must.Value(catalog.NewIndex(c, "sha256:0"))(t)).Edge(t.Context(), V0, e, bundles[e.From], bundles[e.To]))(t)
		if len(findings) != 1 {
			t.Errorf("%s: %v", s.Name, findings)
			continue
		}
		f := findings[0]
		if f.Rule != expected.Rule || f.Object != expected.Object || !strings.HasPrefix(f.Message, expected.Message) || !strings.Contains(f.Remedy, expected.Remedy) {
			t.Errorf("%s: %+v, want %+v", s.Name, f, expected)
		}
	}
}

// TestMissingImages asks a registry on this machine.
func TestMissingImages(t *testing.T) {
	server := httptest.NewServer(image.NewRegistry(t.TempDir()))
	t.Cleanup(server.Close)
	registry := strings.TrimPrefix(server.URL, "http://")
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	for _, version := range fixture.SeededVersions() {
		var files fs.FS = fstest.MapFS{"operator": {Data: []byte(version)}}
		must.Value(image.Push(t.Context(), registry+"/widget-operator:v"+version, files, nil, image.PushOptions{}))(t)
	}
	for _, s := range fixture.Seeds() {
		if s.Name != "healthy" && s.V0 != string(ImageMissing) {
			continue
		}
		bundles, _ := seeded(t, s, registry)
		checker := &ImageChecker{Store: store}
		for name, b := range bundles {
			findings := must.Value(checker.Missing(t.Context(), b))(t)
			if s.Name == "healthy" || name != "widget-operator.v1.1.0" {
				must.Equal(t, s.Name+": "+name, len(findings), 0)
				continue
			}
			if len(findings) != 1 || findings[0].Rule != ImageMissing || findings[0].Object != "Image "+registry+"/widget-operator:never-pushed" || !strings.Contains(findings[0].Message, name+" names it: find image") {
				t.Errorf("%s: %v", name, findings)
			}
		}
	}
	server.Close()
	bundles, _ := seeded(t, fixture.Seeds()[0], registry)
	findings, err := (&ImageChecker{Store: must.Value(image.Open(t.TempDir(), image.Config{}))(t)}).Missing(t.Context(), bundles["widget-operator.v1.0.0"])
	if len(findings) > 0 || err == nil || !errors.As(err, new(*image.Error)) || !strings.Contains(err.Error(), "ask for the images of bundle widget-operator.v1.0.0") {
		t.Errorf("a registry that does not answer proves nothing: %v, %v", findings, err)
	}
}

func TestImages(t *testing.T) {
	b := must.Value(bundle.Load(fstest.MapFS{"manifests/csv.yaml": {Data: []byte(`
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: p.v1}
spec:
  version: 1.0.0
  relatedImages: [{name: a, image: example.com/a:1}, {name: none, image: ""}]
  install:
    strategy: deployment
    spec:
      deployments:
      - name: p
        spec:
          selector: {matchLabels: {app: p}}
          template:
            spec:
              initContainers: [{name: i, image: "example.com/init:1"}]
              containers:
              - {name: c, image: "example.com/a:1", env: [{name: RELATED_IMAGE_B, value: "example.com/b:1"}, {name: RELATED_IMAGE_C}, {name: OTHER, value: "example.com/no:1"}]}
`)}, "metadata/annotations.yaml": {Data: []byte("annotations:\n  operators.operatorframework.io.bundle.package.v1: p\n")}}))(t)
	must.Equal(t, "images", Images(b), []string{"example.com/a:1", "example.com/b:1", "example.com/init:1"})
}
