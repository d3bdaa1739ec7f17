package catalog

import (
	"encoding/json"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestWrittenVersion: whatever a version is ordered as, people see what its author wrote.
func TestWrittenVersion(t *testing.T) {
	rebuilt := Property{Type: PropertyCSVMetadata, Value: json.RawMessage(`{"annotations":{"olm.substitutesFor":"p.v0"}}`)}
	tests := map[string]struct {
		name, value    string
		rebuilt        bool
		written, order string
	}{
		"a version":                          {"p.v1", `{"packageName":"p","version":"1.0.0-rc.1"}`, false, "1.0.0-rc.1", "1.0.0-rc.1"},
		"a release":                          {"p-v1.0.0-2", `{"packageName":"p","version":"1.0.0","release":"2"}`, false, "1.0.0-2", "1.0.0-2"},
		"build metadata":                     {"p.v1", `{"packageName":"p","version":"1.0.0+2"}`, false, "1.0.0+2", "1.0.0+2"},
		"a rebuild of old":                   {"p.v1", `{"packageName":"p","version":"1.0.0+2"}`, true, "1.0.0+2", "1.0.0-2"},
		"a rebuild whose build cannot order": {"p.v1", `{"packageName":"p","version":"1.0.0+01"}`, true, "1.0.0+01", "1.0.0+01"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := Bundle{Schema: SchemaBundle, Package: "p", Name: test.name, Image: "example.com/p:1", Properties: []Property{{Type: PropertyPackage, Value: json.RawMessage(test.value)}}}
			if test.rebuilt {
				b.Properties = append(b.Properties, rebuilt)
			}
			x := must.Value(NewIndex(&Catalog{
				Packages: []Package{{Name: "p", DefaultChannel: "c"}},
				Channels: []Channel{{Name: "c", Package: "p", Entries: []Entry{{Name: test.name}}}},
				Bundles:  []Bundle{b},
			}, "sha256:0"))(t)
			info, ok := x.Bundle("p", test.name)
			if !ok {
				t.Fatalf("the bundle is not served: %v", x.Problems())
			}
			if got := info.WrittenVersion(); got != test.written {
				t.Errorf("written as %s, want %s", got, test.written)
			}
			if got := info.Version.String(); got != test.order {
				t.Errorf("ordered as %s, want %s", got, test.order)
			}
		})
	}
}
