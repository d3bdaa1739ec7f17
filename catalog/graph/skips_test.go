package graph

import (
	"encoding/json"
	"fmt"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestEverySkipIsAnEdge, also the first one of an entry that replaces something.
func TestEverySkipIsAnEdge(t *testing.T) {
	c := &catalog.Catalog{Packages: []catalog.Package{{Name: "p", DefaultChannel: "stable"}}}
	c.Channels = []catalog.Channel{{Package: "p", Name: "stable", Entries: []catalog.Entry{
		{Name: "p.v1.2.0"}, {Name: "p.v1.3.0", Replaces: "p.v1.2.0"}, {Name: "p.v1.4.0", Replaces: "p.v1.3.0"},
		{Name: "p.v1.5.0", Replaces: "p.v1.2.0", Skips: []string{"p.v1.3.0", "p.v1.4.0"}},
	}}}
	for _, version := range []string{"1.2.0", "1.3.0", "1.4.0", "1.5.0"} {
		c.Bundles = append(c.Bundles, catalog.Bundle{Name: "p.v" + version, Package: "p", Properties: []catalog.Property{{
			Type: catalog.PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName":"p","version":%q}`, version)),
		}}})
	}
	for from, want := range map[string]Kind{"1.2.0": Replaces, "1.3.0": Skips, "1.4.0": Skips} {
		j := must.Value(Path(c, Query{Package: "p", From: from}))(t)
		for name, route := range map[string]Route{"v0": j.V0, "v1": j.V1} {
			if !route.Reached || len(route.Hops) != 1 || route.Hops[0].Edges[0].Kind != want {
				t.Errorf("%s from %s: %+v, want one hop by %s", name, from, route, want)
			}
		}
	}
}
