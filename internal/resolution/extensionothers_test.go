package resolution

import (
	"encoding/json"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

// TestNoExtensionIsInItsOwnWay lists the extension itself among the others, with a need of what it has installed that no upgrade would
// meet: it is not another one.
func TestNoExtensionIsInItsOwnWay(t *testing.T) {
	properties := func(v string) []catalog.Property {
		return []catalog.Property{
			{Type: catalog.PropertyPackage, Value: json.RawMessage(`{"packageName":"db","version":"` + v + `"}`)},
			{Type: catalog.PropertyGVK, Value: json.RawMessage(`{"group":"example.com","version":"v1","kind":"Db"}`)},
		}
	}
	index := must.Value(catalog.NewIndex(&catalog.Catalog{
		Packages: []catalog.Package{{Schema: catalog.SchemaPackage, Name: "db", DefaultChannel: "s"}},
		Channels: []catalog.Channel{{Schema: catalog.SchemaChannel, Package: "db", Name: "s", Entries: []catalog.Entry{{Name: "db.v2", Replaces: "db.v1"}, {Name: "db.v1"}}}},
		Bundles: []catalog.Bundle{
			{Schema: catalog.SchemaBundle, Package: "db", Name: "db.v1", Image: "example.com/db:1", Properties: properties("1.0.0")},
			{Schema: catalog.SchemaBundle, Package: "db", Name: "db.v2", Image: "example.com/db:2", Properties: properties("2.0.0")},
		},
	}, "d"))(t)
	needing := append(properties("1.0.0"), catalog.Property{Type: catalog.PropertyPackageRequired, Value: json.RawMessage(`{"packageName":"db","versionRange":"<2.0.0"}`)})
	installed := Installed{Name: "db.v1", Version: version.VersionRelease{Version: semver.MustParse("1.0.0")}, Properties: needing}
	for other, want := range map[string]string{"mine": "db.v2", "another": "db.v1"} {
		in := ExtensionRequest{Name: "mine", Package: "db", Installed: &Installed{Name: "db.v1", Version: installed.Version},
			Catalogs: []Catalog{{Name: "cat", Index: index}}, Others: []InstalledExtension{{Name: other, Package: "app", Installed: installed}}}
		result := must.Value(Extension(t.Context(), in))(t)
		got := "db.v1"
		if result.Bundle != nil {
			got = result.Bundle.Name
		}
		must.Equal(t, "with "+other+" among the others", got, want)
	}
}
