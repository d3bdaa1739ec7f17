package examples

import (
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// imagePrefix is what has to be replaced to publish the samples elsewhere.
const imagePrefix = "registry.example.com/fairlead/"

// loadBundles returns the bundles by name.
func loadBundles(t *testing.T) map[string]*bundle.Bundle {
	t.Helper()
	dirs, err := fs.Glob(Bundles, "bundles/*/*")
	if err != nil {
		t.Fatal(err)
	}
	bundles := map[string]*bundle.Bundle{}
	for _, dir := range dirs {
		tree, err := fs.Sub(Bundles, dir)
		if err != nil {
			t.Fatal(err)
		}
		b, err := bundle.Load(tree)
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		if want := path.Base(path.Dir(dir)) + ".v" + path.Base(dir); b.Name != want {
			t.Errorf("%s holds bundle %s, want %s", dir, b.Name, want)
		}
		bundles[b.Name] = b
	}
	if len(bundles) != 8 {
		t.Errorf("%d bundles, want two packages of four versions", len(bundles))
	}
	return bundles
}

func loadCatalog(t *testing.T, name string) *catalog.Catalog {
	t.Helper()
	tree, err := fs.Sub(Catalogs, name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load(context.Background(), tree, catalog.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if problems := catalog.Validate(c); len(problems) > 0 {
		t.Errorf("%s: %v", name, problems)
	}
	return c
}

func TestBundlesAreValid(t *testing.T) {
	for name, b := range loadBundles(t) {
		for _, finding := range bundle.Validate(b) {
			t.Errorf("%s: %s", name, finding)
		}
		if b.DefaultChannel != "stable" {
			t.Errorf("%s: the default channel is %q", name, b.DefaultChannel)
		}
	}
}

// TestCatalogsAgreeWithTheBundles renders each bundle anew and compares.
func TestCatalogsAgreeWithTheBundles(t *testing.T) {
	bundles := loadBundles(t)
	for _, name := range []string{"catalog-v1", "catalog"} {
		c := loadCatalog(t, name)
		for _, listed := range c.Bundles {
			b := bundles[listed.Name]
			if b == nil {
				t.Errorf("%s lists %s, which has no directory", name, listed.Name)
				continue
			}
			rendered, err := b.ToCatalog(listed.Image)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(properties(t, rendered), properties(t, listed)); diff != "" {
				t.Errorf("%s: %s: properties (-bundle +catalog):\n%s", name, listed.Name, diff)
			}
			if diff := cmp.Diff(rendered.RelatedImages, listed.RelatedImages); diff != "" {
				t.Errorf("%s: %s: related images (-bundle +catalog):\n%s", name, listed.Name, diff)
			}
			for _, image := range listed.RelatedImages {
				if !strings.HasPrefix(image.Image, imagePrefix) {
					t.Errorf("%s: %s: image %s is not under %s", name, listed.Name, image.Image, imagePrefix)
				}
			}
		}
	}
}

// properties returns the properties of a bundle that do not carry manifests, as comparable text.
func properties(t *testing.T, b catalog.Bundle) []string {
	t.Helper()
	var out []string
	for _, p := range b.Properties {
		if p.Type == catalog.PropertyBundleObject || p.Type == catalog.PropertyCSVMetadata {
			continue
		}
		var value any
		if err := json.Unmarshal(p.Value, &value); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p.Type+" "+string(text))
	}
	slices.Sort(out)
	return out
}

// TestCatalogMetadataAgreesWithTheBundles compares what catalogs show of an operator with its ClusterServiceVersion.
func TestCatalogMetadataAgreesWithTheBundles(t *testing.T) {
	for _, name := range []string{"catalog-v1", "catalog"} {
		index, err := catalog.NewIndex(loadCatalog(t, name), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, pkg := range index.PackageNames() {
			info, _ := index.Package(pkg)
			for _, channel := range info.Channels {
				for _, entry := range channel.Entries {
					raw, err := index.CSVMetadata(entry.Bundle)
					if err != nil {
						t.Fatal(err)
					}
					var got map[string]any
					if err := json.Unmarshal(raw, &got); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(metadataOf(t, pkg, entry.Name), got); diff != "" {
						t.Errorf("%s: %s: metadata (-bundle +catalog):\n%s", name, entry.Name, diff)
					}
				}
			}
		}
	}
}

// metadataOf reads from a ClusterServiceVersion what a catalog shows of it.
func metadataOf(t *testing.T, pkg, name string) map[string]any {
	t.Helper()
	data, err := Bundles.ReadFile(path.Join("bundles", pkg, strings.TrimPrefix(name, pkg+".v"), "manifests", pkg+".clusterserviceversion.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var csv struct {
		Metadata struct{ Annotations map[string]any }
		Spec     map[string]any
	}
	if err := yaml.Unmarshal(data, &csv); err != nil {
		t.Fatal(err)
	}
	shown := map[string]any{
		"annotations": csv.Metadata.Annotations, "apiServiceDefinitions": map[string]any{},
		"crdDescriptions": csv.Spec["customresourcedefinitions"],
	}
	for _, field := range []string{
		"description", "displayName", "installModes", "keywords", "links", "maintainers", "maturity", "minKubeVersion", "provider",
	} {
		shown[field] = csv.Spec[field]
	}
	return shown
}
