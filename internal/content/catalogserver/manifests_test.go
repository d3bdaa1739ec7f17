package catalogserver

import (
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"
)

const described = `{schema: olm.package, name: p, defaultChannel: c}
---
{schema: olm.channel, package: p, name: c, entries: [{name: p.v1}]}
---
schema: olm.bundle
package: p
name: p.v1
image: example.com/p:1
properties:
- {type: olm.package, value: {packageName: p, version: 1.0.0}}
- {type: olm.csv.metadata, value: {}}
`

// TestZeroValuesOfADescribedCSV asks for a bundle of which the catalog says nothing but that it is described: the ClusterServiceVersion
// that is made of that has all that one has when a program writes it.
func TestZeroValuesOfADescribedCSV(t *testing.T) {
	x := indexOf(t, fstest.MapFS{"catalog.yaml": {Data: []byte(described)}}, "sha256:described")
	p, c, err := findChannel(x, "p", "c")
	must.NoError(t, err)
	b := must.Value(bundleAt(x, place{p, c, c.Entries[0]}, true))(t)
	const want = `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"p.v1"},` +
		`"spec":{"apiservicedefinitions":{},"cleanup":{"enabled":false},"customresourcedefinitions":{},"displayName":"",` +
		`"install":{"spec":{"deployments":null},"strategy":"deployment"},"provider":{},"version":"1.0.0"},"status":{"cleanup":{}}}`
	must.Equal(t, "the ClusterServiceVersion", b.GetCsvJson(), want)
	must.Equal(t, "the objects", b.GetObject(), []string{want})
}
