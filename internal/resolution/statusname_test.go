package resolution

import (
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"
)

// TestNamed finds the name that a catalog has for what a status has in another form.
func TestNamed(t *testing.T) {
	const text = `
schema: olm.package
name: a
defaultChannel: stable
---
schema: olm.channel
package: a
name: stable
entries:
- {name: A_op.v1.0.0}
---
schema: olm.bundle
package: a
name: A_op.v1.0.0
image: registry.example.com/a:1
properties:
- {type: olm.package, value: {packageName: a, version: 1.0.0+2}}
`
	catalogs := []Catalog{{Name: "dead"}, {Name: "cat", Index: index(t, fstest.MapFS{"cat.yaml": {Data: []byte(text)}}, "cat.yaml")}}
	for what, test := range map[string]struct{ name, version, want string }{
		"as the status has it":  {"a-op.v1.0.0", "1.0.0+2", "A_op.v1.0.0"},
		"as the catalog has it": {"A_op.v1.0.0", "1.0.0+2", "A_op.v1.0.0"},
		"another version":       {"a-op.v1.0.0", "1.0.1", "a-op.v1.0.0"},
		"another bundle":        {"a-op.v2.0.0", "1.0.0+2", "a-op.v2.0.0"},
	} {
		v := must.Value(version.Parse(test.version))(t)
		must.Equal(t, what, (Installed{Name: test.name, Version: version.FromBuild(v)}).Named("a", catalogs).Name, test.want)
	}
}
