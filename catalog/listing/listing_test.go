package listing

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

func index(t *testing.T) *catalog.Index {
	t.Helper()
	csv := base64.StdEncoding.EncodeToString([]byte("kind: ClusterServiceVersion\nspec:\n  displayName: From the manifest\n"))
	crd := base64.StdEncoding.EncodeToString([]byte("kind: CustomResourceDefinition\nspec: {displayName: wrong}\n"))
	text := strings.NewReplacer("CSV", csv, "CRD", crd).Replace(`
schema: olm.package
name: b
defaultChannel: z
---
schema: olm.channel
package: b
name: z
entries:
- {name: b.v2, replaces: b.v1, skips: [b.v1.1, b.v1.2], skipRange: "<2.0.0"}
- {name: b.v1}
---
schema: olm.channel
package: b
name: a
entries:
- {name: b.v1}
---
schema: olm.bundle
package: b
name: b.v1
image: example.com/b:1
properties:
- {type: olm.package, value: {packageName: b, version: 1.0.0}}
---
schema: olm.bundle
package: b
name: b.v2
image: example.com/b:2
properties:
- {type: olm.package, value: {packageName: b, version: 2.0.0}}
- {type: olm.csv.metadata, value: {displayName: "From the\tmetadata\u001b[0m"}}
---
schema: olm.package
name: a
defaultChannel: only
---
schema: olm.channel
package: a
name: only
entries:
- {name: a.v1}
---
schema: olm.bundle
package: a
name: a.v1
image: ""
properties:
- {type: olm.package, value: {packageName: a, version: 1.0.0}}
- {type: olm.bundle.object, value: {data: CRD}}
- {type: olm.bundle.object, value: {data: CSV}}
---
schema: olm.deprecations
package: a
entries:
- {reference: {schema: olm.package}, message: use b}
- {reference: {schema: olm.channel, name: only}, message: no more}
- {reference: {schema: olm.bundle, name: a.v1}, message: old}
---
schema: olm.package
name: broken
defaultChannel: none
`)
	c := must.Value(catalog.LoadFile(t.Context(), "c.yaml", strings.NewReader(text), catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(c, ""))(t)
	return x
}

func TestPackages(t *testing.T) {
	list := must.Value(Packages(index(t)))(t)
	want := []Package{
		{Name: "a", DisplayName: "From the manifest", DefaultChannel: "only", Deprecation: "use b"},
		{Name: "b", DisplayName: "From the\tmetadata\u001b[0m", DefaultChannel: "z"},
	}
	must.Equal(t, "packages", list, want)
	checkTable(t, PackageTable, list, `NAME  DISPLAY NAME           DEFAULT CHANNEL
a     From the manifest      only
b     From the metadata [0m  z
`)
}

func TestChannels(t *testing.T) {
	list := must.Value(Channels(index(t), ""))(t)
	checkTable(t, ChannelTable, list, `PACKAGE  CHANNEL  HEAD
a        only     a.v1
b        a        b.v1
b        z        b.v2
`)
	must.Equal(t, "list[0].Deprecation", list[0].Deprecation, "no more")
}

func TestBundles(t *testing.T) {
	list, err := Bundles(index(t), "b")
	must.NoError(t, err)
	checkTable(t, BundleTable, list, `PACKAGE  CHANNEL  BUNDLE  REPLACES  SKIPS          SKIP RANGE  IMAGE
b        a        b.v1                                         example.com/b:1
b        z        b.v1                                         example.com/b:1
b        z        b.v2    b.v1      b.v1.1,b.v1.2  <2.0.0      example.com/b:2
`)
	must.Equal(t, "list[2].Version", list[2].Version, "2.0.0")
	list, err = Bundles(index(t), "a")
	if err != nil || len(list) != 1 || list[0].Deprecation != "old" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestUnknownPackages(t *testing.T) {
	for _, name := range []string{"nothing", "broken"} {
		if _, err := Channels(index(t), name); err == nil || !strings.Contains(err.Error(), `package "`+name+`" not found`) {
			t.Errorf("channels of %s: %v", name, err)
		}
		if _, err := Bundles(index(t), name); err == nil || !strings.Contains(err.Error(), `package "`+name+`" not found`) {
			t.Errorf("bundles of %s: %v", name, err)
		}
	}
}

func checkTable[T any](t *testing.T, write func(w io.Writer, list []T) error, list []T, want string) {
	t.Helper()
	var out bytes.Buffer
	must.NoError(t, write(&out, list))
	must.Equal(t, "table", out.String(), want)
}

// TestBundlesHaveTheirWrittenVersions: the build metadata of a rebuild orders it and stays what it is.
func TestBundlesHaveTheirWrittenVersions(t *testing.T) {
	const text = `
schema: olm.package
name: p
defaultChannel: c
---
schema: olm.channel
package: p
name: c
entries:
- {name: p.v1}
---
schema: olm.bundle
package: p
name: p.v1
image: example.com/p:1
properties:
- {type: olm.package, value: {packageName: p, version: 1.0.0+2}}
- {type: olm.csv.metadata, value: {annotations: {olm.substitutesFor: p.v0}}}
`
	c := must.Value(catalog.LoadFile(t.Context(), "c.yaml", strings.NewReader(text), catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
	bundles, err := Bundles(x, "p")
	if err != nil || len(bundles) != 1 || bundles[0].Version != "1.0.0+2" {
		t.Errorf("bundles %+v, error %v", bundles, err)
	}
}
