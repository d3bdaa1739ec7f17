package bundle

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestToCatalogRules holds each rule of how a bundle becomes an olm.bundle: files, and what they make of it.
func TestToCatalogRules(t *testing.T) {
	csv := func(old, new string) map[string]string {
		if !strings.Contains(testCSVYAML, old) {
			t.Fatalf("the ClusterServiceVersion does not contain %q", old)
		}
		return map[string]string{"manifests/csv.yaml": strings.Replace(testCSVYAML, old, new, 1)}
	}
	const own, thing = `olm.package {"packageName":"op","version":"1.0.0"}`, `olm.gvk {"group":"example.com","kind":"Thing","version":"v1"}`
	const operator, published = "image example.com/op:1", "image example.com/bundle:1"
	tests := map[string]struct {
		files map[string]string
		image string
		want  []string // properties without manifests, then images
	}{
		"all that is derived":      {want: []string{thing, own, operator}},
		"its own image is related": {image: "example.com/bundle:1", want: []string{thing, own, published, operator}},
		"sorted by type and value": {files: map[string]string{"metadata/p.yaml": "properties:\n- {type: z, value: 1}\n- {type: a, value: {b: 2}}\n- {type: a, value: {b: 1}}\n"},
			want: []string{`a {"b":1}`, `a {"b":2}`, thing, own, `z 1`, operator}},
		"each property once": {files: map[string]string{"metadata/p.yaml": "properties:\n- {type: olm.gvk, value: {version: v1, kind: Thing, group: example.com}}\n- {type: z, value: 1}\n- {type: z, value: 1}\n"},
			want: []string{thing, own, `z 1`, operator}},
		"a declared package counts": {files: map[string]string{"metadata/p.yaml": "properties:\n- {type: olm.package, value: {packageName: op, version: 9.0.0}}\n"},
			want: []string{thing, `olm.package {"packageName":"op","version":"9.0.0"}`, operator}},
		"properties of the annotation": {files: csv("  name: op.v1.0.0\n", "  name: op.v1.0.0\n  annotations: {olm.properties: '[{\"type\": \"y\", \"value\": {\"k\": \"<\"}}]'}\n"),
			want: []string{thing, own, `y {"k":"<"}`, operator}},
		"a broken annotation adds nothing": {files: csv("  name: op.v1.0.0\n", "  name: op.v1.0.0\n  annotations: {olm.properties: '{'}\n"),
			want: []string{thing, own, operator}},
		"versions that are not served": {files: map[string]string{"manifests/things.crd.yaml": strings.Replace(testCRDYAML, "  versions:\n", "  versions:\n  - {name: v1alpha1, served: false, storage: false}\n", 1)},
			want: []string{thing, `olm.gvk {"group":"example.com","kind":"Thing","version":"v1alpha1"}`, own, operator}},
		"owned and required APIs": {files: csv("  customresourcedefinitions:\n", "  apiservicedefinitions:\n    owned:\n    - {name: xs, group: x.com, version: v1, kind: X, deploymentName: op}\n"+
			"    required:\n    - {name: ys, group: y.com, version: v1, kind: Yonder}\n  customresourcedefinitions:\n    required:\n    - {name: others.sub.example.com, version: v2, kind: Other}\n"),
			want: []string{thing, `olm.gvk {"group":"x.com","kind":"X","version":"v1"}`, `olm.gvk.required {"group":"sub.example.com","kind":"Other","version":"v2"}`,
				`olm.gvk.required {"group":"y.com","kind":"Yonder","version":"v1"}`, own, operator}},
		"dependencies": {files: map[string]string{"metadata/d.yaml": "dependencies:\n- {type: olm.package, value: {packageName: p, version: '>1.0.0'}}\n- {type: olm.gvk, value: {group: g, kind: K, version: v1}}\n- {type: olm.label, value: {label: l}}\n- {type: olm.constraint, value: {cel: {rule: 'true'}}}\n"},
			want: []string{`olm.constraint {"cel":{"rule":"true"}}`, thing, `olm.gvk.required {"group":"g","kind":"K","version":"v1"}`, `olm.label {"label":"l"}`, own,
				`olm.package.required {"packageName":"p","versionRange":">1.0.0"}`, operator}},
		"a release": {files: csv("  version: 1.0.0\n", "  version: 1.0.0\n  release: '2'\n"),
			want: []string{thing, `olm.package {"packageName":"op","version":"1.0.0","release":"2"}`, operator}},
		"a rebuild of old": {files: csv("  name: op.v1.0.0\nspec:\n  version: 1.0.0\n", "  name: op.v1.0.0\n  annotations: {olm.substitutesFor: op.v0.9.0}\nspec:\n  version: 1.0.0+7\n"),
			want: []string{thing, `olm.package {"packageName":"op","version":"1.0.0+7"}`, operator}},
		"a rebuild of old with a release": {files: csv("  name: op.v1.0.0\nspec:\n  version: 1.0.0\n", "  name: op.v1.0.0\n  annotations: {olm.substitutesFor: op.v0.9.0}\nspec:\n  version: 1.0.0\n  release: 3\n"),
			want: []string{thing, `olm.package {"packageName":"op","version":"1.0.0","release":"3"}`, operator}},
		"listed images stay as they are": {image: "example.com/bundle:1", files: csv("  displayName: Op\n",
			"  displayName: Op\n  relatedImages:\n  - {name: b, image: 'example.com/x:1'}\n  - {name: a, image: 'example.com/x:1'}\n  - {name: op, image: 'example.com/op:1'}\n  - {name: own, image: 'example.com/bundle:1'}\n"),
			want: []string{thing, own, `image own example.com/bundle:1`, `image op example.com/op:1`, `image b example.com/x:1`, `image a example.com/x:1`}},
		"images of init containers": {files: csv("              containers:\n", "              initContainers:\n              - {name: i, image: 'example.com/init:1'}\n              containers:\n"),
			want: []string{thing, own, `image example.com/init:1`, operator}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := loadTest(t, tc.files)
			c := must.Value(b.ToCatalog(tc.image))(t)
			if c.Schema != "olm.bundle" || c.Name != "op.v1.0.0" || c.Package != "op" || c.Image != tc.image {
				t.Errorf("%s %s of %s at %q", c.Schema, c.Name, c.Package, c.Image)
			}
			must.Equal(t, "outline", outline(c), tc.want)
			// Check that the manifests are all there, at the end.
			first := slices.IndexFunc(c.Properties, func(p catalog.Property) bool { return p.Type == catalog.PropertyBundleObject })
			objects := c.Properties[first:]
			if len(objects) != len(b.AllObjects()) {
				t.Fatalf("%d properties from the first manifest on, want %d", len(objects), len(b.AllObjects()))
			}
			kinds := map[string]bool{}
			for _, p := range objects {
				var object struct{ Data []byte }
				var manifest struct{ Kind string }
				if p.Type != catalog.PropertyBundleObject || json.Unmarshal(p.Value, &object) != nil || json.Unmarshal(object.Data, &manifest) != nil {
					t.Errorf("property %s %s", p.Type, p.Value)
				}
				kinds[manifest.Kind] = true
			}
			if !kinds["ClusterServiceVersion"] || !kinds["CustomResourceDefinition"] {
				t.Errorf("manifests of %v", kinds)
			}
			checkMetadataForm(t, c, tc.image)
		})
	}
}

// outline is a bundle on lines: properties without manifests, then images.
func outline(c catalog.Bundle) []string {
	var out []string
	for _, p := range c.Properties {
		if p.Type != catalog.PropertyBundleObject && p.Type != catalog.PropertyCSVMetadata {
			out = append(out, p.Type+" "+string(p.Value))
		}
	}
	for _, image := range c.RelatedImages {
		out = append(out, strings.Join(strings.Fields("image "+image.Name+" "+image.Image), " "))
	}
	return out
}

// checkMetadataForm checks the other form, which has what clusters need of the ClusterServiceVersion in place of the manifests.
func checkMetadataForm(t *testing.T, c catalog.Bundle, image string) {
	t.Helper()
	before := outline(c)
	migrated := must.Value(catalog.Migrate(&catalog.Catalog{Bundles: []catalog.Bundle{c}}, catalog.MigrateAll))(t)
	out := migrated.Bundles[0]
	must.Equal(t, "migration changes other things", outline(out), before)
	metadata := slices.DeleteFunc(slices.Clone(out.Payloads), func(p catalog.Payload) bool { return p.Type != catalog.PropertyCSVMetadata })
	if image == "" {
		must.Equal(t, "without an image the manifests are all there is", len(metadata), 0)
		return
	}
	if len(metadata) != 1 || len(out.Payloads) != 1 {
		t.Fatalf("%d of %d payloads are metadata, want one", len(metadata), len(out.Payloads))
	}
	value, err := metadata[0].Value()
	if err != nil || !strings.Contains(string(value), `"displayName":"Op"`) || strings.Contains(string(value), "deployments") {
		t.Errorf("metadata %s, %v", value, err)
	}
}
