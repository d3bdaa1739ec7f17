package catalog

import (
	"testing"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"
)

func TestEdgeFrom(t *testing.T) {
	read := func(text string) *version.VersionRelease {
		v := must.Value(version.Parse(text))(t)
		return &version.VersionRelease{Version: v}
	}
	skipRange := must.Value(version.ParseRange("<5.0.0"))(t)
	entry := EntryInfo{Name: "a.v3", Replaces: "a.v2", Skips: []string{"a.v4"}, SkipRange: skipRange, InChain: true, Bundle: &BundleInfo{Version: *read("3.0.0+2")}}
	beside := entry
	beside.InChain = false
	first := entry
	first.Replaces = ""
	for name, test := range map[string]struct {
		to      EntryInfo
		from    Departure
		want    Edge
		refuses bool
	}{
		"itself":                        {entry, Departure{"a.v3", read("3.0.0+2")}, NoEdge, false},
		"what it replaces":              {entry, Departure{"a.v2", nil}, EdgeReplaces, false},
		"a newer one that it skips":     {entry, Departure{"a.v4", read("4.0.0")}, EdgeSkips, false},
		"an older one in its range":     {entry, Departure{"a.v1", read("1.0.0")}, EdgeSkipRange, false},
		"a newer one in its range":      {entry, Departure{"a.v4.1", read("4.1.0")}, NoEdge, true},
		"one beyond its range":          {entry, Departure{"a.v6", read("6.0.0")}, NoEdge, false},
		"an older release":              {entry, Departure{"a.v3-1", read("3.0.0+1")}, EdgeSkipRange, false},
		"a newer release":               {entry, Departure{"a.v3-3", read("3.0.0+3")}, NoEdge, true},
		"the same release":              {entry, Departure{"other", read("3.0.0+2")}, EdgeSkipRange, false},
		"an unknown version":            {entry, Departure{"other", nil}, NoEdge, false},
		"no name, where it replaces no": {first, Departure{"", read("9.0.0")}, NoEdge, false},
		"not on the chain":              {beside, Departure{"a.v2", read("2.0.0")}, NoEdge, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.to.EdgeFrom(test.from); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := test.to.RefusesBack(test.from); got != test.refuses {
				t.Errorf("refuses to lead back: %v, want %v", got, test.refuses)
			}
		})
	}
}
