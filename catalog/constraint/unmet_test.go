package constraint

import (
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestUnmet: what nothing in the catalog meets, once for all bundles of a package, and nothing else.
func TestUnmet(t *testing.T) {
	c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(`
{schema: olm.package, name: a, defaultChannel: stable}
---
{schema: olm.channel, package: a, name: stable, entries: [{name: a.v1}, {name: a.v2, replaces: a.v1}]}
---
schema: olm.bundle
package: a
name: a.v1
image: registry.example.com/a:1
properties:
- {type: olm.package, value: {packageName: a, version: 1.0.0}}
- {type: olm.gvk, value: {group: g, version: v1, kind: A}}
- {type: olm.gvk.required, value: {group: g, version: v1, kind: A}}
- {type: olm.gvk.required, value: {group: g, version: v1, kind: Gone}}
- {type: olm.package.required, value: {packageName: b, versionRange: ">=1.0.0"}}
- {type: olm.package.required, value: {packageName: b, versionRange: ">=2.0.0"}}
---
schema: olm.bundle
package: a
name: a.v2
image: registry.example.com/a:2
properties:
- {type: olm.package, value: {packageName: a, version: 2.0.0}}
- {type: olm.gvk.required, value: {group: g, version: v1, kind: Gone}}
- {type: olm.constraint, value: {all: {constraints: [{package: {packageName: b, versionRange: ">=1.0.0"}}, {package: {packageName: none, versionRange: ">=1.0.0"}}]}}}
- {type: olm.constraint, value: {any: {constraints: [{package: {packageName: none, versionRange: ">=1.0.0"}}, {gvk: {group: g, version: v1, kind: A}}]}}}
- {type: olm.constraint, value: {any: {constraints: [{package: {packageName: none, versionRange: ">=3.0.0"}}, {gvk: {group: g, version: v2, kind: A}}]}}}
- {type: olm.constraint, value: {not: {constraints: [{package: {packageName: none, versionRange: ">=4.0.0"}}]}}}
- {type: olm.constraint, value: {cel: {rule: 'properties.exists(p, p.type == "tier")'}}}
- {type: olm.constraint, value: {cel: {rule: 'properties.exists(p, p.type == "nothing")'}}}
- {type: olm.constraint, value: {packages: {}}}
---
{schema: olm.package, name: b, defaultChannel: stable}
---
{schema: olm.channel, package: b, name: stable, entries: [{name: b.v1}]}
---
{schema: olm.bundle, package: b, name: b.v1, image: "registry.example.com/b:1", properties: [{type: olm.package, value: {packageName: b, version: 1.5.0}}, {type: tier, value: gold}]}
`)}}, catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(c, "sha256:1"))(t)
	var got []string
	for _, p := range Unmet(c, x) {
		got = append(got, p.String())
	}
	const fix = " [bundle-need-unmet]; add it to the catalog, correct the need, or tell users which other catalog has it"
	const first, second = `catalog.yaml:6: warning: bundle "a.v1" of package "a": nothing in the catalog is `, `catalog.yaml:18: warning: bundle "a.v2" of package "a": nothing in the catalog is `
	must.Equal(t, "unmet", got, []string{
		first + "a provider of API Gone.v1.g, which it needs, as do a.v2" + fix,
		first + `package "b" in range ">=2.0.0", which it needs` + fix,
		second + `package "none" in range ">=1.0.0", which it needs` + fix,
		second + `package "none" in range ">=3.0.0", or a provider of API A.v2.g, which it needs` + fix,
		second + `what its rule in CEL asks for: properties.exists(p, p.type == "nothing"), which it needs` + fix,
	})
}
