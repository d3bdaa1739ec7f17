package preview

import (
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestChannelWithTwoHeads is offered under v1, with its highest version in the place of the head.
func TestChannelWithTwoHeads(t *testing.T) {
	const text = `
schema: olm.package
name: a
defaultChannel: stable
---
schema: olm.channel
package: a
name: stable
entries:
- {name: a.v2.0.0}
- {name: a.v1.0.0}
---
schema: olm.bundle
package: a
name: a.v1.0.0
image: registry.example.com/a:1
properties:
- {type: olm.package, value: {packageName: a, version: 1.0.0}}
---
schema: olm.bundle
package: a
name: a.v2.0.0
image: registry.example.com/a:2
properties:
- {type: olm.package, value: {packageName: a, version: 2.0.0}}
`
	c, err := catalog.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(text)}}, catalog.LoadOptions{})
	if c == nil {
		t.Fatal(err)
	}
	x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
	var a Answer
	if err := a.add("cat", x, ""); err != nil || len(a.Packages) != 1 {
		t.Fatalf("%d packages, error %v; want one", len(a.Packages), err)
	}
	p := a.Packages[0]
	if p.Bundle != "a.v2.0.0" || len(p.Versions) != 2 || len(p.Channels) != 1 || p.Channels[0].Head != "a.v2.0.0" || p.Channels[0].Versions != 2 {
		t.Errorf("the package is %+v", p)
	}
}
