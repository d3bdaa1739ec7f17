package resolution

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

// TestUnmet tells what an installed bundle misses, and nothing of what it has.
func TestUnmet(t *testing.T) {
	of := func(kind, value string) catalog.Property {
		return catalog.Property{Type: kind, Value: json.RawMessage(value)}
	}
	install := func(name string, properties ...catalog.Property) Installed {
		return Installed{Name: name, Version: version.VersionRelease{Version: semver.MustParse("1.0.0")}, Properties: properties}
	}
	gvk := `{"group":"example.com","version":"v1","kind":"Db"}`
	db := InstalledExtension{Name: "db", Package: "db", Installed: install("db.v1", of(catalog.PropertyGVK, gvk))}
	for name, test := range map[string]struct {
		needs  []catalog.Property
		others []InstalledExtension
		want   string // part of the only line; empty is none
	}{
		"no needs":                     {},
		"a package is gone":            {needs: []catalog.Property{of(catalog.PropertyPackageRequired, `{"packageName":"db","versionRange":">=1.0.0"}`)}, want: "db"},
		"a package is there":           {needs: []catalog.Property{of(catalog.PropertyPackageRequired, `{"packageName":"db","versionRange":">=1.0.0"}`)}, others: []InstalledExtension{db}},
		"another version of a package": {needs: []catalog.Property{of(catalog.PropertyPackageRequired, `{"packageName":"db","versionRange":">=2.0.0"}`)}, others: []InstalledExtension{db}, want: "2.0.0"},
		"an API is gone":               {needs: []catalog.Property{of(catalog.PropertyGVKRequired, gvk)}, want: "Db"},
		"an API is there":              {needs: []catalog.Property{of(catalog.PropertyGVKRequired, gvk)}, others: []InstalledExtension{db}},
		"an API of its own":            {needs: []catalog.Property{of(catalog.PropertyGVKRequired, gvk), of(catalog.PropertyGVK, gvk)}},
		"one of two would do":          {needs: []catalog.Property{of(catalog.PropertyConstraint, `{"any":{"constraints":[{"gvk":`+gvk+`},{"package":{"packageName":"x","versionRange":"1"}}]}}`)}, others: []InstalledExtension{db}},
		"what nobody can read":         {needs: []catalog.Property{of(catalog.PropertyConstraint, `{`)}},
	} {
		t.Run(name, func(t *testing.T) {
			mine := install("a.v1", test.needs...)
			got := Unmet(ExtensionRequest{Name: "my", Package: "a", Installed: &mine, Others: test.others})
			switch {
			case test.want == "" && len(got) > 0, test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want) || !strings.HasPrefix(got[0], "a.v1, which is installed, requires ")):
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if got := Unmet(ExtensionRequest{Name: "my", Package: "a"}); got != nil {
		t.Errorf("nothing is installed: %q", got)
	}
}
