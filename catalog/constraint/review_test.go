package constraint

import (
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestReview finds, in a catalog, the needs that no bundle should have, with the bundle and what to do.
func TestReview(t *testing.T) {
	c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(`
{schema: olm.package, name: a, defaultChannel: stable}
---
{schema: olm.channel, package: a, name: stable, entries: [{name: a.v1}]}
---
schema: olm.bundle
package: a
name: a.v1
image: registry.example.com/a:1
properties:
- {type: olm.package, value: {packageName: a, version: 1.0.0}}
- {type: olm.gvk, value: {group: g, version: v1, kind: A}}
- {type: olm.package.required, value: {packageName: a, versionRange: ">=1.0.0"}}
- {type: olm.package.required, value: {packageName: b, versionRange: ">=1.0.0"}}
- {type: olm.constraint, value: {gvk: {group: g, version: v1, kind: B}, cel: {rule: "true"}}}
- {type: olm.constraint, value: {all: {constraints: [{gvk: {group: g, version: v1, kind: A}}, {any: {}}]}}}
- {type: olm.constraint, value: {packages: {}}}
- {type: olm.constraint, value: {package: {packageName: b, versionRange: ">=1.0.0"}}}
`)}}, catalog.LoadOptions{}))(t)
	if problems := catalog.Validate(c); len(problems) > 0 {
		t.Fatalf("the catalog is not sound otherwise: %v", problems)
	}
	var got []string
	for _, p := range Review(c) {
		got = append(got, p.String())
	}
	const at = `catalog.yaml:6: warning: bundle "a.v1" of package "a": `
	want := []string{
		at + `property[2] of type "olm.package.required": the bundle meets it itself, so it asks nothing of other operators [bundle-need-doubtful]; remove it, or ask for something that only another operator has`,
		at + `property[4] of type "olm.constraint": it has gvk and cel; gvk counts and cel is passed over [bundle-need-doubtful]; keep one of them, or put each into a constraint of an all`,
		at + `property[5] of type "olm.constraint": all #2: any has no constraints, so it never holds [bundle-need-doubtful]; add constraints to it, or remove it`,
		at + `property[5] of type "olm.constraint": all #1: the bundle meets it itself, so it asks nothing of other operators [bundle-need-doubtful]; remove it, or ask for something that only another operator has`,
		at + `property[6] of type "olm.constraint": it has a field "packages", which is not known, so the bundle is never chosen [bundle-constraint]; correct the constraint`,
	}
	must.Equal(t, "list", strings.Join(got, "\n"), strings.Join(want, "\n"))
}
