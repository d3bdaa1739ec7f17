package resolution

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/test/must"
)

// tower is a catalog whose package has so many versions, each with the same properties.
func tower(t *testing.T, versions int, properties ...catalog.Property) *catalog.Index {
	t.Helper()
	c := &catalog.Catalog{Packages: []catalog.Package{{Schema: catalog.SchemaPackage, Name: "p", DefaultChannel: "a"}}}
	channel := catalog.Channel{Schema: catalog.SchemaChannel, Package: "p", Name: "a"}
	for i := range versions {
		e := catalog.Entry{Name: fmt.Sprintf("p.v%d.0.0", i)}
		if i > 0 {
			e.Replaces = channel.Entries[i-1].Name
		}
		channel.Entries = append(channel.Entries, e)
		own := catalog.Property{Type: catalog.PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName":"p","version":"%d.0.0"}`, i))}
		c.Bundles = append(c.Bundles, catalog.Bundle{Schema: catalog.SchemaBundle, Package: "p", Name: e.Name, Image: "registry.example.com/p:1",
			Properties: append([]catalog.Property{own}, properties...)})
	}
	c.Channels = append(c.Channels, channel)
	x := must.Value(catalog.NewIndex(c, "sha256:tower"))(t)
	return x
}

// TestHostileCatalogs demands an answer, or an explanation, within the bounds of a decision whatever a catalog holds.
func TestHostileCatalogs(t *testing.T) {
	gvk := api(1)
	gvk.Type = catalog.PropertyGVKRequired
	needs := make([]catalog.Property, maxNeeds+1)
	for i := range needs {
		needs[i] = gvk
	}
	dear := catalog.Property{Type: catalog.PropertyConstraint, Value: json.RawMessage(fmt.Sprintf(`{"cel":{"rule":%q}}`,
		"size(properties) > 5 && properties.all(a, properties.all(b, properties.all(c, properties.all(d, properties.all(e, properties.all(f, properties.all(g, a == a)))))))"))}
	not := catalog.Property{Type: catalog.PropertyConstraint, Value: json.RawMessage(`{"not":{"constraints":[` + string(dear.Value) + `]}}`)}
	broken := catalog.Property{Type: catalog.PropertyConstraint, Value: json.RawMessage(`{"cel":{"rule":"1"}}`)}
	tests := map[string]struct {
		versions   int
		properties []catalog.Property
		others     int
		want       string
	}{
		"too many needs":            {3, needs, 1, "no more than 1000 are looked for"},
		"rules that cost too much":  {200, []catalog.Property{dear}, 200, "costs too much"},
		"a rule that is stopped":    {3, []catalog.Property{dear}, 1, "costs too much"},
		"the absence of its like":   {3, []catalog.Property{not}, 1, "costs too much"},
		"rules that cannot be read": {3, []catalog.Property{broken}, 1, "cannot be read"},
		"many versions":             {3000, []catalog.Property{gvk}, 3, "and 2999 more alike"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := ExtensionRequest{Name: "my", Package: "p", Catalogs: []Catalog{{Name: "cat", Index: tower(t, test.versions, test.properties...)}}}
			for i := range test.others {
				o := InstalledExtension{Name: fmt.Sprint("other", i), Package: fmt.Sprint("q", i), Installed: Installed{Name: fmt.Sprint("q", i)}}
				for range 10 {
					o.Installed.Properties = append(o.Installed.Properties, api(2+i%2))
				}
				in.Others = append(in.Others, o)
			}
			_, err := Extension(t.Context(), in)
			var conflict *Conflict
			if !errors.As(err, &conflict) || conflict.Reason != DependencyMissing || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want a conflict about %q", err, test.want)
			}
			checkConflict(t, conflict)
			var core *resolve.Unsatisfiable
			if !errors.As(err, &core) || len(core.Core) < test.versions {
				t.Error("the explanation does not speak of every version")
			}
		})
	}
}

// TestReplayNeedsWhatWasThere demands an error that says what is missing.
func TestReplayNeedsWhatWasThere(t *testing.T) {
	x := tower(t, 2)
	tests := map[string]struct {
		record ExtensionRecord
		want   string
	}{
		"a catalog is gone": {ExtensionRecord{Name: "my", Catalogs: []RecordedCatalog{{Name: "gone", Digest: "sha256:0"}}}, "catalog gone with digest sha256:0: it is not here"},
		"a bundle is gone": {ExtensionRecord{Name: "my", Package: "p", Catalogs: []RecordedCatalog{{Name: "cat", Digest: x.Digest()}},
			Installed: &RecordedBundle{Package: "p", Name: "p.v9", Version: "9.0.0", Catalog: "cat"}}, "installed bundle p.v9: catalog cat does not have it"},
		"a version is none": {ExtensionRecord{Name: "my", Installed: &RecordedBundle{Name: "p", Version: "one"}}, "installed bundle p: "},
		"a release is none": {ExtensionRecord{Name: "my", Others: []RecordedBundle{{Name: "q", Version: "1.0.0", Release: "_"}}}, "installed bundle q: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := test.record.Replay(t.Context(), func(name, _ string) (*catalog.Index, error) {
				if name == "cat" {
					return x, nil
				}
				return nil, errors.New("it is not here")
			})
			must.Fail(t, "the call", err, test.want)
		})
	}
}
