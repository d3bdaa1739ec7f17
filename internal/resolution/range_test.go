package resolution

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestRangeTables resolves every row of the published tables of version ranges in a catalog with all the versions around their bounds:
// the wanted version is the highest that the range in plain comparisons allows.
func TestRangeTables(t *testing.T) {
	tests := map[string]map[string]string{
		"basic comparisons": {
			"=1.11.1": "1.11.1", "!=3.0.1": "3.0.0", ">1.11.1": "3.0.1", "<1.11.1": "1.11.0", ">=1.11.1": "3.0.1", "<=1.11.1": "1.11.1",
			">=1.11, <1.13": "1.12.5", "1.11.1": "1.11.1", ">=1.11 <1.13": "1.12.5", "<0.2 || ~1.12": "1.12.5",
		},
		"wildcards":      {"1.11.x": "1.11.9", ">=1.12.X": "3.0.1", "<=2.x": "2.9.9", "*": "3.0.1"},
		"patch releases": {"~1.11.0": "1.11.9", "~1": "1.13.0", "~1.12": "1.12.5", "~1.12.x": "1.12.5", "~1.x": "1.13.0"},
		"major releases": {
			"^0": "0.9.9", "^0.0": "0.0.4", "^0.0.3": "0.0.3", "^0.2": "0.2.9", "^0.2.3": "0.2.9", "^1.2.x": "1.13.0", "^1.2.3": "1.13.0",
			"^2.x": "2.9.9", "^2.3": "2.9.9",
		},
		"admitted by the field": {
			"1": "1.13.0", "v1.2.3": "1.2.3", "1.x": "1.13.0", "1.*": "1.13.0", "1.2.*": "1.2.3", "^1 || ^3": "3.0.1", "~>1.2": "1.2.3", "=>1.0": "3.0.1",
			"1.2.3+2": "1.2.3", ">=3.0.0-0": "3.1.0-rc.1", "3.1.0-rc.1": "3.1.0-rc.1", " 1.11.x \n": "1.11.9", "1.2.3 - 2.0.0": "2.0.0",
		},
		"refused": {"1.2.3||": "invalid", "> =": "invalid", "|": "invalid", "1.*]": "invalid", "latest": "invalid", "1,2": "none", "4": "none"},
	}
	// A catalog whose package has versions at and around the bounds of the tables.
	c := &catalog.Catalog{Packages: []catalog.Package{{Schema: catalog.SchemaPackage, Name: "p", DefaultChannel: "a"}}}
	channel := catalog.Channel{Schema: catalog.SchemaChannel, Package: "p", Name: "a"}
	for i, v := range []string{"0.0.2", "0.0.3", "0.0.4", "0.1.0", "0.2.2", "0.2.3", "0.2.9", "0.3.0", "0.9.9", "1.0.0", "1.2.2", "1.2.3", "1.11.0", "1.11.1", "1.11.9",
		"1.12.0", "1.12.5", "1.13.0", "2.0.0", "2.3.0", "2.9.9", "3.0.0", "3.0.1", "3.1.0-rc.1"} {
		e := catalog.Entry{Name: "p.v" + v}
		if i > 0 {
			e.Replaces = channel.Entries[i-1].Name
		}
		channel.Entries = append(channel.Entries, e)
		c.Bundles = append(c.Bundles, catalog.Bundle{Schema: catalog.SchemaBundle, Package: "p", Name: e.Name, Image: "registry.example.com/p:1",
			Properties: []catalog.Property{{Type: catalog.PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName":"p","version":%q}`, v))}}})
	}
	c.Channels = append(c.Channels, channel)
	x := must.Value(catalog.NewIndex(c, "sha256:ladder"))(t)
	for table, rows := range tests {
		for text, want := range rows {
			t.Run(table+"/"+text, func(t *testing.T) {
				result, err := Extension(t.Context(), ExtensionRequest{Name: "my", Package: "p", Version: text, Catalogs: []Catalog{{Name: "cat", Index: x}}})
				got := ""
				var conflict *Conflict
				switch {
				case errors.As(err, &conflict) && conflict.Reason == InvalidRange:
					got = "invalid"
				case errors.As(err, &conflict) && conflict.Reason == VersionNotFound:
					got = "none"
				case err != nil:
					t.Fatal(err)
				default:
					got = result.Bundle.VersionText
				}
				must.Equal(t, "resolves to", got, want)
			})
		}
	}
}

// TestParseInstalled reads what a status may say.
func TestParseInstalled(t *testing.T) {
	text := func(s string) *string { return &s }
	tests := map[string]struct {
		version string
		release *string
		want    string // version and release; empty when it is refused
	}{
		"a version":                         {"1.2.3", nil, "1.2.3"},
		"build metadata that is a release":  {"1.2.3+2", nil, "1.2.3+2"},
		"build metadata that is none":       {"1.2.3+a_b", nil, ""},
		"a release":                         {"1.2.3", text("4.el9"), "1.2.3-4.el9"},
		"an empty release":                  {"1.2.3+2", text(""), "1.2.3+2"},
		"a version with a leading v":        {"v1.2", nil, "1.2.0"},
		"what is no version":                {"one", nil, ""},
		"what is no release":                {"1.2.3", text("a_b"), ""},
		"a release that is longer than one": {"1.2.3", text("123456789012345678901"), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			i, err := ParseInstalled("a", test.version, test.release)
			if (err != nil) != (test.want == "") || err == nil && i.Version.String() != test.want {
				t.Errorf("got %s, %v, want %q", i.Version, err, test.want)
			}
		})
	}
}
