package resolution

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

// TestMissing says what would have to be installed besides, for whoever does that.
func TestMissing(t *testing.T) {
	const db, queue = `{"type":"olm.package.required","value":{"packageName":"db","versionRange":">=1.2.0"}}`, `{"type":"olm.gvk.required","value":{"group":"example.com","version":"v1","kind":"Queue"}}`
	nobody := `{"type":"olm.gvk.required","value":{"group":"example.com","version":"v1","kind":"Nobody"}}`
	either := func(parts ...string) string {
		return `{"type":"olm.constraint","value":{"failureMessage":"x","any":{"constraints":[` + strings.Join(parts, ",") + `]}}}`
	}
	part := func(p string) string { return `{"package":{"packageName":"` + p + `","versionRange":">=1.0.0"}}` }
	needDB := []Missing{{Packages: []string{"db"}, Version: ">=1.2.0"}}
	for name, test := range map[string]struct {
		needs     []string // of the versions of the package, in their order
		installed string   // version of db that another extension has
		request   string
		want      []Missing
	}{
		"nothing":                        {needs: []string{""}},
		"a package":                      {needs: []string{db}, want: needDB},
		"an API":                         {needs: []string{queue}, want: []Missing{{Packages: []string{"queue"}}}},
		"both":                           {needs: []string{db + "," + queue}, want: append(needDB[:1:1], Missing{Packages: []string{"queue"}})},
		"an API and its package":         {needs: []string{queue + "," + strings.NewReplacer(`"db"`, `"queue"`, "1.2.0", "1.0.0").Replace(db)}, want: []Missing{{Packages: []string{"queue"}, Version: ">=1.0.0"}}},
		"an API, twice":                  {needs: []string{queue + "," + queue}, want: []Missing{{Packages: []string{"queue"}}}},
		"one of two, which one has":      {needs: []string{either(part("none"), part("db"))}, want: []Missing{{Packages: []string{"db"}, Version: ">=1.0.0"}}},
		"what nobody has":                {needs: []string{db + "," + nobody}},
		"it is there":                    {needs: []string{db}, installed: "1.2.0"},
		"it is there, and is too old":    {needs: []string{db}, installed: "1.0.0", want: needDB},
		"only a newer version needs it":  {needs: []string{"", db}, want: needDB},
		"a newer one that is not wanted": {needs: []string{"", db}, request: "1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for pkg, provided := range map[string]string{"a": "", "db": "", "queue": `,{"type":"olm.gvk","value":{"group":"example.com","version":"v1","kind":"Queue"}}`} {
				needs := test.needs
				if pkg != "a" {
					needs = []string{""}
				}
				var entries []string
				for i, need := range needs {
					v := fmt.Sprintf("1.%d.0", i)
					if pkg == "db" {
						v = "1.2.0"
					}
					more := provided
					if need != "" {
						more += "," + need
					}
					entry := fmt.Sprintf(`{"name":"%s.v%s"}`, pkg, v)
					if i > 0 {
						entry = fmt.Sprintf(`{"name":"%s.v%s","replaces":"%s.v1.%d.0"}`, pkg, v, pkg, i-1)
					}
					entries = append(entries, entry)
					fmt.Fprintf(&text, `{"schema":"olm.bundle","package":%q,"name":"%[1]s.v%s","image":"quay.io/%[1]s:v%[2]s","properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":%[2]q}}%[3]s]}`,
						pkg, v, more)
				}
				fmt.Fprintf(&text, `{"schema":"olm.package","name":%q,"defaultChannel":"s"}{"schema":"olm.channel","package":%[1]q,"name":"s","entries":[%s]}`, pkg, strings.Join(entries, ","))
			}
			c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"c.json": {Data: []byte(text.String())}}, catalog.LoadOptions{}))(t)
			x := must.Value(catalog.NewIndex(c, "sha256:c"))(t)
			in := ExtensionRequest{Name: "my", Package: "a", Version: test.request, Catalogs: []Catalog{{Name: "cat", Index: x}}}
			if test.installed != "" {
				in.Others = []InstalledExtension{{Name: "db", Package: "db", Installed: Installed{Name: "db.v" + test.installed, Version: version.VersionRelease{Version: semver.MustParse(test.installed)},
					Properties: []catalog.Property{{Type: "olm.package", Value: []byte(`{"packageName":"db","version":"` + test.installed + `"}`)}}}}}
			}
			result, err := Extension(t.Context(), in)
			if result == nil {
				t.Fatal(err)
			}
			must.Equal(t, "missing", result.Missing, test.want)
		})
	}
}
