package catalogserver

import (
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestRequiredAPIsAreThoseDeclared has a bundle that needs an API only by its ClusterServiceVersion: what is served says what its
// properties declare, which is nothing.
func TestRequiredAPIsAreThoseDeclared(t *testing.T) {
	x := yamlIndex(t, `
schema: olm.package
name: a
defaultChannel: s
---
schema: olm.channel
package: a
name: s
entries: [{name: a.v2, replaces: a.v1}, {name: a.v1}]
---
schema: olm.bundle
package: a
name: a.v1
image: example.com/a:1
properties:
- {type: olm.package, value: {packageName: a, version: 1.0.0}}
- {type: olm.csv.metadata, value: {crdDescriptions: {required: [{name: xs.example.com, version: v1, kind: X}]}}}
---
schema: olm.bundle
package: a
name: a.v2
image: example.com/a:2
properties:
- {type: olm.package, value: {packageName: a, version: 2.0.0}}
- {type: olm.gvk.required, value: {group: example.com, version: v1, kind: X}}
`)
	pkg, _ := x.Package("a")
	want := map[string]int{"a.v1": 0, "a.v2": 1}
	for _, e := range pkg.Channels[0].Entries {
		b := must.Value(bundleAt(x, place{pkg, pkg.Channels[0], e}, false))(t)
		if len(e.Bundle.Requires) != 1 {
			t.Errorf("%s needs %v", e.Name, e.Bundle.Requires)
		}
		if n := want[e.Name]; len(b.RequiredApis) != n || len(b.Dependencies) != n {
			t.Errorf("%s is served with %v and %v, want %d of each", e.Name, b.RequiredApis, b.Dependencies, n)
		}
	}
}
