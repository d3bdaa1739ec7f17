package bundle

import (
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestDescribed breaks what a catalog says of a bundle, one thing at a time. Loading the bundle works each time.
func TestDescribed(t *testing.T) {
	version := func(text string) map[string]string {
		return map[string]string{"manifests/csv.yaml": strings.Replace(testCSVYAML, "version: 1.0.0", text, 1)}
	}
	apis := func(list string) map[string]string {
		return map[string]string{"manifests/csv.yaml": strings.Replace(testCSVYAML, "    owned:\n    - {name: things.example.com, version: v1, kind: Thing}\n", "    "+list+"\n", 1)}
	}
	declared := version("version: v1.0.0")
	declared["metadata/p.yaml"] = "properties:\n- {type: olm.package, value: {packageName: op, version: 1.0.0}}\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"as it is":                      {nil, ""},
		"build metadata":                {version("version: 1.0.0-rc.1+b.2"), ""},
		"two numbers":                   {version("version: '1.2'"), `spec.version: "1.2" is no semantic version; write it as 1.2.0`},
		"a v before it":                 {version("version: v1.2.3"), `spec.version: "v1.2.3" is no semantic version; write it as 1.2.3`},
		"blanks around it":              {version("version: ' 1.2.3'"), `write it as 1.2.3`},
		"no version":                    {version("maturity: alpha"), "spec.version: there is none; add the version of the operator"},
		"a version that is declared":    {declared, ""},
		"an owned CRD that is missing":  {apis("owned: [{name: as.example.com, version: v1, kind: A}]"), "owned[0]: the CRD as.example.com is not in the bundle"},
		"one of another kind":           {apis("owned: [{name: things.example.com, version: v1, kind: Other}]"), "does not define"},
		"one of another version":        {apis("owned: [{name: things.example.com, version: v9, kind: Thing}]"), "does not define"},
		"one without a group":           {apis("owned: [{name: things, version: v1, kind: Thing}]"), "owned[0].name: "},
		"a required CRD without group":  {apis("required: [{name: things, version: v1, kind: Thing}]"), "required[0].name: "},
		"an object without apiVersion":  {map[string]string{"manifests/sa.yaml": "kind: ServiceAccount\nmetadata: {name: x}\n"}, "manifests/sa.yaml: the manifest has a kind and no apiVersion"},
		"what is no object":             {map[string]string{"manifests/values.yaml": "a: b\n"}, ""},
		"a CRD that nothing is said of": {apis("owned: []"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := loadTest(t, test.files)
			_, err := b.Described()
			if test.want == "" && err != nil {
				t.Errorf("error %v", err)
			}
			if test.want != "" {
				wantError(t, err, "describe bundle op.v1.0.0 for a catalog: ", test.want)
			}
		})
	}
}

// TestDescribedListsAll has everything that is wrong in one error, and what is ignored as a warning.
func TestDescribedListsAll(t *testing.T) {
	csv := strings.NewReplacer("version: 1.0.0", "version: '1'", "name: things.example.com", "name: as.example.com").Replace(testCSVYAML)
	b := loadTest(t, map[string]string{"manifests/csv.yaml": csv, "manifests/x.yaml": "kind: Secret\n"})
	b.CSV.Annotations = map[string]string{"olm.properties": "{"}
	warnings, err := b.Described()
	wantError(t, err, "as.example.com", "write it as 1.0.0", "manifests/x.yaml")
	if len(warnings) != 1 || !strings.Contains(warnings[0], "olm.properties") {
		t.Errorf("warnings %v", warnings)
	}
}

// TestEqualDependenciesStay shows that a dependency that is listed twice is in the catalog twice, as other tools write it, and that required
// APIs are a set.
func TestEqualDependenciesStay(t *testing.T) {
	dependencies := []Dependency{{"olm.gvk", []byte(`{"group":"g","kind":"K","version":"v1"}`)}, {"olm.package", []byte(`{"packageName":"p","version":"1.0.0"}`)},
		{"olm.label", []byte(`{"label":"l"}`)}}
	for first := range dependencies { // whichever is listed before the others
		b := loadTest(t, nil)
		for _, d := range append(slices.Clone(dependencies[first:]), dependencies[:first]...) {
			b.Dependencies = append(b.Dependencies, d, d)
		}
		all := must.Value(b.AllProperties())(t)
		for kind, want := range map[string]int{catalog.PropertyGVKRequired: 1, catalog.PropertyPackageRequired: 2, "olm.label": 2} {
			if got := len(slices.DeleteFunc(slices.Clone(all), func(p catalog.Property) bool { return p.Type != kind })); got != want {
				t.Errorf("%s first: %d properties %s, want %d", dependencies[first].Type, got, kind, want)
			}
		}
	}
}
