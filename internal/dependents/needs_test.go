package dependents

import (
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"

	"github.com/google/go-cmp/cmp"
)

// TestNeeds asks for the package db, whose bundle has the API Table of db.example.com. What is not sure counts.
func TestNeeds(t *testing.T) {
	provides := &resolution.Installed{Properties: []catalog.Property{property("other", "{"), property("olm.gvk", `{"group": "db.example.com", "version": "v1", "kind": "Table"}`)}}
	unknown := &resolution.Installed{}
	const anAPI = `{"group": "x.example.com", "version": "v1", "kind": "Kite"}`
	for name, c := range map[string]struct {
		kind, value string
		what        *resolution.Installed
		want        bool
	}{
		"the package":                     {"olm.package.required", `{"packageName": "db", "versionRange": ">=1"}`, provides, true},
		"another package":                 {"olm.package.required", `{"packageName": "dbx"}`, provides, false},
		"a package nobody can read":       {"olm.package.required", `[]`, provides, true},
		"the API":                         {"olm.gvk.required", `{"group": "db.example.com", "version": "v1", "kind": "Table"}`, provides, true},
		"the API in another version":      {"olm.gvk.required", `{"group": "db.example.com", "version": "v2", "kind": "Table"}`, provides, true},
		"another kind of its group":       {"olm.gvk.required", `{"group": "db.example.com", "version": "v1", "kind": "Tables"}`, provides, false},
		"its kind in another group":       {"olm.gvk.required", `{"group": "x.example.com", "version": "v1", "kind": "Table"}`, provides, false},
		"an API, and nobody knows it all": {"olm.gvk.required", anAPI, unknown, true},
		"an API, and nothing is there":    {"olm.gvk.required", anAPI, nil, false},
		"a constraint on the package":     {"olm.constraint", `{"all": {"constraints": [{"package": {"packageName": "db", "versionRange": ">=1"}}]}}`, provides, true},
		"a constraint on another package": {"olm.constraint", `{"package": {"packageName": "dbx", "versionRange": ">=1"}}`, provides, false},
		"a constraint on the API":         {"olm.constraint", `{"any": {"constraints": [{"gvk": {"group": "db.example.com", "version": "v1", "kind": "Table"}}]}}`, provides, true},
		"a rule, which may mean anything": {"olm.constraint", `{"cel": {"rule": "properties.exists(p, p.type == 'x')"}}`, provides, true},
		"a label, which may be anybody's": {"olm.label.required", `{"label": "fast"}`, provides, true},
		"what it provides itself":         {"olm.gvk", `{"group": "db.example.com", "version": "v1", "kind": "Table"}`, provides, false},
		"what it is":                      {"olm.package", `{"packageName": "db", "version": "1.0.0"}`, provides, false},
	} {
		t.Run(name, func(t *testing.T) {
			others := []catalog.Property{property("olm.package", `{"packageName": "x", "version": "1.0.0"}`)}
			if got := Needs(append(others, property(c.kind, c.value)), "db", c.what); got != c.want {
				t.Errorf("needed: %t, want %t", got, c.want)
			}
		})
	}
	if Needs(nil, "db", provides) {
		t.Error("no properties need it")
	}
}

func TestProperties(t *testing.T) {
	got, err := Properties(`[{"type": "olm.package", "value": {"a": 1}}, {"type": "b", "value": "c"}]`)
	if diff := cmp.Diff([]catalog.Property{property("olm.package", `{"a": 1}`), property("b", `"c"`)}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := Properties(`[{"type": 1}]`); err == nil {
		t.Error("something else passes for properties")
	}
}
