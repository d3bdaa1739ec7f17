package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

func TestAllProperties(t *testing.T) {
	const (
		thing = `olm.gvk {"group":"example.com","kind":"Thing","version":"v1"}`
		own   = `olm.package {"packageName":"op","version":"1.0.0"}`
	)
	api := func(kind string) v1alpha1.APIServiceDescription {
		return v1alpha1.APIServiceDescription{Group: "api.example.com", Version: "v1", Kind: kind}
	}
	tests := map[string]struct {
		files  map[string]string
		change func(*Bundle)
		want   []string
	}{
		"derived": {want: []string{own, thing}},
		"declared ones first, each once": {
			files: map[string]string{"metadata/p.yaml": "properties:\n- {type: b, value: 1}\n- {type: a, value: {z: 1, x: 2}}\n- {type: b, value: 1}\n- {type: b, value: 2}\n"},
			want:  []string{"b 1", `a {"x":2,"z":1}`, "b 2", own, thing},
		},
		"wrapped as in the manuals, between others": {
			files: map[string]string{"metadata/p.yaml": "properties:\n- property: {type: color, value: red}\n- {type: shape, value: square}\n- property:\n    type: olm.gvk\n    value: {group: g, version: v1, kind: K}\n"},
			want:  []string{`color "red"`, `shape "square"`, `olm.gvk {"group":"g","kind":"K","version":"v1"}`, own, thing},
		},
		"a declared package takes the place of the derived one": {
			files: map[string]string{"metadata/p.yaml": "properties:\n- {type: olm.package, value: {packageName: op, version: 7.0.0}}\n"},
			want:  []string{`olm.package {"packageName":"op","version":"7.0.0"}`, thing},
		},
		"a declared API is not repeated": {
			files: map[string]string{"metadata/p.yaml": "properties:\n- {type: olm.gvk, value: {version: v1, kind: Thing, group: example.com}}\n"},
			want:  []string{thing, own},
		},
		"annotated": {
			change: func(b *Bundle) {
				b.CSV.Annotations = map[string]string{"olm.properties": `[{"type": "x", "value": { "a" : 1 }}]`}
			},
			want: []string{own, `x {"a":1}`, thing},
		},
		"annotated and broken": {
			change: func(b *Bundle) { b.CSV.Annotations = map[string]string{"olm.properties": `[{"type": "x"}]`} },
			want:   []string{own, thing},
		},
		"aggregated APIs": {
			change: func(b *Bundle) {
				b.CSV.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{api("B"), api("A"), api("B")}
				b.CSV.Spec.APIServiceDefinitions.Required = []v1alpha1.APIServiceDescription{api("C")}
			},
			want: []string{own, `olm.gvk {"group":"api.example.com","kind":"A","version":"v1"}`, `olm.gvk {"group":"api.example.com","kind":"B","version":"v1"}`, thing,
				`olm.gvk.required {"group":"api.example.com","kind":"C","version":"v1"}`},
		},
		"an old CRD": {
			files: map[string]string{"manifests/x.yaml": "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: olds.example.com}\nspec: {group: example.com, version: v1, names: {kind: Old, plural: olds}}\n"},
			want:  []string{own, `olm.gvk {"group":"example.com","kind":"Old","version":"v1"}`, thing},
		},
		"needs": {
			files: map[string]string{"metadata/d.yaml": "dependencies:\n- {type: olm.package, value: {packageName: p, version: '<2'}}\n- {type: olm.gvk, value: {group: g, version: v1, kind: K}}\n- {type: olm.label, value: {label: l}}\n"},
			change: func(b *Bundle) {
				b.CSV.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "ks.g", Version: "v1", Kind: "K"}, {Name: "dotless", Version: "v1", Kind: "X"}}
			},
			want: []string{own, thing, `olm.gvk.required {"group":"g","kind":"K","version":"v1"}`, `olm.package.required {"packageName":"p","versionRange":"<2"}`, `olm.label {"label":"l"}`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := loadTest(t, tc.files)
			if tc.change != nil {
				tc.change(b)
			}
			got := must.Value(b.AllProperties())(t)
			var out []string
			for _, property := range got {
				out = append(out, property.Type+" "+string(property.Value))
			}
			must.Equal(t, "result", out, tc.want)
		})
	}
}

func TestToCatalogRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*Bundle)
		want   string
	}{
		"no package": {func(b *Bundle) { b.Package = "" }, "names no package"},
		"two packages": {func(b *Bundle) {
			b.CSV.Annotations = map[string]string{"olm.properties": `[{"type":"olm.package","value":{}}]`}
		}, "2 properties olm.package"},
		"a package need":       {func(b *Bundle) { b.Dependencies = []Dependency{{"olm.package", []byte(`[]`)}} }, "dependency 0"},
		"an API need":          {func(b *Bundle) { b.Dependencies = []Dependency{{"olm.gvk", []byte(`"x"`)}} }, "value of olm.gvk"},
		"a property that is x": {func(b *Bundle) { b.Objects[0].Object["x"] = func() {} }, "CustomResourceDefinition things.example.com"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := loadTest(t, nil)
			tc.change(b)
			_, err := b.ToCatalog("")
			wantError(t, err, "bundle op.v1.0.0", tc.want)
		})
	}
}

// TestToCatalogWithoutImage shows that a bundle that is not published names no empty image.
func TestToCatalogWithoutImage(t *testing.T) {
	c := must.Value(loadTest(t, nil).ToCatalog(""))(t)
	if diff := cmp.Diff([]catalog.RelatedImage{{Image: "example.com/op:1"}}, c.RelatedImages); diff != "" || c.Image != "" {
		t.Errorf("image %q; related images (-want +got):\n%s", c.Image, diff)
	}
}
