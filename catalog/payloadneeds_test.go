package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

const (
	requiringCSV = `{"kind":"ClusterServiceVersion","spec":{"customresourcedefinitions":{"required":[` +
		`{"name":"xs.example.com","version":"v1","kind":"X"},{"name":"xs.example.com","version":"v1","kind":"X"}]},` +
		`"apiservicedefinitions":{"required":[{"name":"y","group":"apis.example.com","version":"v2","kind":"Y"}]}}}`
	requiringYAML = "kind: ClusterServiceVersion\nspec:\n  customresourcedefinitions:\n    required: [{name: xs.example.com, version: v1, kind: X}]\n"
)

// TestNeedsOfTheCSV has bundles whose CSV requires APIs, and what they need then.
func TestNeedsOfTheCSV(t *testing.T) {
	metadata := Property{PropertyCSVMetadata, json.RawMessage(`{"crdDescriptions":{"required":[{"name":"xs.example.com","version":"v1","kind":"X"}]},` +
		`"apiServiceDefinitions":{"required":[{"name":"y","group":"apis.example.com","version":"v2","kind":"Y"}]}}`)}
	object := func(manifest string) Property {
		return Property{PropertyBundleObject, json.RawMessage(objectValue(manifest))}
	}
	says := func(kind, value string) Property { return Property{kind, json.RawMessage(value)} }
	x, y := GVK{"example.com", "v1", "X"}, GVK{"apis.example.com", "v2", "Y"}
	tests := map[string]struct {
		properties []Property
		want       []GVK
	}{
		"the metadata of a CSV":       {[]Property{metadata}, []GVK{x, y}},
		"a CSV, each API once":        {[]Property{object(requiringCSV)}, []GVK{x, y}},
		"a CSV in YAML":               {[]Property{object(requiringYAML)}, []GVK{x}},
		"escapes in keys":             {[]Property{object(strings.ReplaceAll(requiringCSV, `"required"`, `"\u0072equired"`))}, []GVK{x, y}},
		"both forms":                  {[]Property{object(requiringCSV), metadata}, []GVK{x, y}},
		"what is no CSV":              {[]Property{object(strings.ReplaceAll(requiringCSV, `"ClusterServiceVersion"`, `"Other","note":"ClusterServiceVersion"`))}, nil},
		"what a CSV owns":             {[]Property{object(strings.ReplaceAll(requiringCSV, `"required"`, `"owned"`))}, nil},
		"a part that is no object":    {[]Property{object(`{"kind":"ClusterServiceVersion","spec":["required",{"required":[]}]}`)}, nil},
		"a list that is none":         {[]Property{object(`{"kind":"ClusterServiceVersion","spec":{"customresourcedefinitions":{"required":"all"}}}`)}, nil},
		"an API that has no group":    {[]Property{object(strings.ReplaceAll(requiringYAML, "xs.example.com", "xs"))}, nil},
		"another API is declared":     {[]Property{metadata, says(PropertyGVKRequired, `{"group":"g","version":"v1","kind":"K"}`)}, []GVK{{"g", "v1", "K"}}},
		"a package is declared":       {[]Property{metadata, says(PropertyPackageRequired, `{"packageName":"p","versionRange":">=1.0.0"}`)}, nil},
		"a constraint is declared":    {[]Property{metadata, says(PropertyConstraint, `{"gvk":{"group":"g","version":"v1","kind":"K"}}`)}, nil},
		"a label is declared":         {[]Property{metadata, says(PropertyLabelRequired, `{"label":"l"}`)}, nil},
		"what is provided is no need": {[]Property{metadata, says(PropertyGVK, `{"group":"g","version":"v1","kind":"K"}`)}, []GVK{x, y}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			own := Property{PropertyPackage, json.RawMessage(`{"packageName":"a","version":"1.0.0"}`)}
			c := &Catalog{
				Packages: []Package{{Schema: SchemaPackage, Name: "a", DefaultChannel: "s"}},
				Channels: []Channel{{Schema: SchemaChannel, Package: "a", Name: "s", Entries: []Entry{{Name: "a.v1"}}}},
				Bundles:  []Bundle{{Schema: SchemaBundle, Package: "a", Name: "a.v1", Image: "example.com/a:1", Properties: append([]Property{own}, test.properties...)}},
			}
			index, err := NewIndex(c, "d")
			if err != nil || len(index.Problems()) > 0 {
				t.Fatalf("error %v, problems %v", err, index.Problems())
			}
			b, ok := index.Bundle("a", "a.v1")
			if !ok {
				t.Fatal("the bundle is not served")
			}
			must.Equal(t, "needs", b.Requires, test.want)
			for _, p := range b.Properties {
				if p.Type == PropertyGVKRequired && !strings.Contains(name, "declared") {
					t.Errorf("a property was made up: %s", p.Value)
				}
			}
		})
	}
}

// TestNeedsOfTheCSVAreStored builds an index file of a catalog on disk, also one that is loaded without payloads.
func TestNeedsOfTheCSVAreStored(t *testing.T) {
	dir := t.TempDir()
	text := `{"schema":"olm.package","name":"a","defaultChannel":"s"}
{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a.v1"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1","image":"example.com/a:1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}},{"type":"olm.bundle.object","value":` + objectValue(requiringCSV) + `}]}
`
	must.NoError(t, os.WriteFile(filepath.Join(dir, "catalog.json"), []byte(text), 0o600))
	want := []GVK{{"example.com", "v1", "X"}, {"apis.example.com", "v2", "Y"}}
	path := filepath.Join(t.TempDir(), "index")
	built := must.Value(Build(t.Context(), os.DirFS(dir), "d", path, LoadOptions{}))(t)
	defer built.Close()
	opened := must.Value(Open(path))(t)
	defer opened.Close()
	loaded := must.Value(Load(t.Context(), os.DirFS(dir), LoadOptions{DropPayloads: true}))(t)
	dropped := must.Value(NewIndex(loaded, "d"))(t)
	for how, x := range map[string]*Index{"built": built, "opened": opened, "without payloads": dropped} {
		b, _ := x.Bundle("a", "a.v1")
		if b == nil {
			t.Fatalf("%s: no bundle: %v", how, x.Problems())
		}
		must.Equal(t, fmt.Sprintf("%s: needs", how), b.Requires, want)
	}
}
