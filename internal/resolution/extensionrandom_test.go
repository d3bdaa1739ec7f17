package resolution

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

var (
	someVersions = []string{"1.0.0", "1.0.1", "1.1.0", "1.1.0-rc.1", "2.0.0", "2.1.0"}
	someRanges   = []string{"", "", "", "1.x", ">=1.1.0", "2.0.0", "~1.0 || ^2.1", ">=1.1.0-0, <2", "9"}
	someSkips    = []string{"", "", "", "", "<1.1.0", ">=1.0.0 <2.0.0", ">=1.1.0", "1.0.x || >=2.x"}
)

// randomRequest is about package p in up to three catalogs.
func randomRequest(t testing.TB, random *rand.Rand) ExtensionRequest {
	t.Helper()
	in := ExtensionRequest{Name: "my", Package: "p", Version: someRanges[random.IntN(len(someRanges))]}
	if random.IntN(3) == 0 {
		in.Channels = []string{"a", "none", "c"}[random.IntN(2):]
	}
	if random.IntN(4) == 0 {
		in.Policy = SelfCertified
	}
	in.RequireAll = random.IntN(6) == 0
	if random.IntN(3) > 0 {
		v := must.Value(version.Parse(someVersions[random.IntN(len(someVersions))]))(t)
		in.Installed = &Installed{Name: "p.v" + v.String(), Version: version.VersionRelease{Version: v}, Properties: []catalog.Property{api(random.IntN(3))}}
	}
	for i := range 1 + random.IntN(3) {
		c := Catalog{Name: string(rune('x' + i)), Priority: random.IntN(2), Disabled: random.IntN(12) == 0}
		if random.IntN(8) > 0 {
			digest := fmt.Sprint("sha256:", i)
			x := must.Value(catalog.NewIndex(randomCatalog(random), digest))(t)
			c.Index = x
		} else if random.IntN(2) == 0 {
			c.Problem = "connection refused"
		}
		in.Catalogs = append(in.Catalogs, c)
	}
	for i := range random.IntN(5) {
		o := InstalledExtension{Name: fmt.Sprint("other", i), Package: fmt.Sprint("q", i), Installed: Installed{Name: fmt.Sprintf("q%d.v1.0.0", i),
			Version: version.VersionRelease{Version: semver.MustParse("1.0.0")}, Properties: []catalog.Property{api(random.IntN(3))}}}
		for range random.IntN(3) {
			o.Installed.Properties = append(o.Installed.Properties, neededBy(random))
		}
		in.Others = append(in.Others, o)
	}
	return in
}

func api(i int) catalog.Property {
	return catalog.Property{Type: catalog.PropertyGVK, Value: json.RawMessage(fmt.Sprintf(`{"group":"example.com","version":"v1","kind":"K%d"}`, i))}
}

// neededBy is an API or its absence, or a version of package p or of another one.
func neededBy(random *rand.Rand) catalog.Property {
	switch random.IntN(6) {
	case 0:
		return catalog.Property{Type: catalog.PropertyPackageRequired, Value: json.RawMessage(`{"packageName":"p","versionRange":"<2.0.0"}`)}
	case 1:
		return catalog.Property{Type: catalog.PropertyPackageRequired, Value: json.RawMessage(`{"packageName":"q0","versionRange":"1.x"}`)}
	case 2:
		p := api(random.IntN(3))
		return catalog.Property{Type: catalog.PropertyConstraint, Value: json.RawMessage(`{"not":{"constraints":[{"gvk":` + string(p.Value) + `}]}}`)}
	}
	p := api(random.IntN(3))
	p.Type = catalog.PropertyGVKRequired
	return p
}

func randomCatalog(random *rand.Rand) *catalog.Catalog {
	c := &catalog.Catalog{Packages: []catalog.Package{{Schema: catalog.SchemaPackage, Name: "p", DefaultChannel: "a"}}}
	deprecations := catalog.Deprecations{Schema: catalog.SchemaDeprecations, Package: "p"}
	var names []string
	for _, v := range someVersions[:2+random.IntN(len(someVersions)-1)] {
		b := catalog.Bundle{Schema: catalog.SchemaBundle, Package: "p", Name: "p.v" + v, Image: "registry.example.com/p:1", Properties: []catalog.Property{
			{Type: catalog.PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName":"p","version":%q}`, v))}, api(random.IntN(3)),
		}}
		if random.IntN(3) == 0 {
			b.Properties = append(b.Properties, neededBy(random))
		}
		if random.IntN(5) == 0 {
			deprecations.Entries = append(deprecations.Entries, catalog.Deprecation{Reference: catalog.Reference{Schema: catalog.SchemaBundle, Name: b.Name}, Message: "old"})
		}
		names = append(names, b.Name)
		c.Bundles = append(c.Bundles, b)
	}
	c.Deprecations = append(c.Deprecations, deprecations)
	if random.IntN(15) == 0 { // which of the two is meant is not known
		c.Packages = append(c.Packages, c.Packages[0])
	}
	for _, name := range []string{"a", "b", "c"}[:1+random.IntN(3)] {
		c.Channels = append(c.Channels, randomChannel(random, name, names))
	}
	return c
}

// randomChannel has one head as a rule, as each entry replaces the one before it.
func randomChannel(random *rand.Rand, name string, names []string) catalog.Channel {
	c := catalog.Channel{Schema: catalog.SchemaChannel, Package: "p", Name: name}
	before := "p.v0.9.0"
	for _, n := range names {
		if random.IntN(6) == 0 {
			continue
		}
		e := catalog.Entry{Name: n, Replaces: before, SkipRange: someSkips[random.IntN(len(someSkips))]}
		if random.IntN(10) == 0 {
			e.Replaces = ""
		}
		if random.IntN(3) == 0 {
			e.Skips = append(e.Skips, names[random.IntN(len(names))])
		}
		c.Entries = append(c.Entries, e)
		before = n
	}
	return c
}
