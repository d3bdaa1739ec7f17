package catalogtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/test/must"
)

// pack is a package with these channels and these versions: bundles p.v1.0.0 and so on.
func pack(t testing.TB, channels string, versions ...string) *catalog.Catalog {
	t.Helper()
	var text strings.Builder
	text.WriteString("---\nschema: olm.package\nname: p\ndefaultChannel: stable\n")
	for _, v := range versions {
		fmt.Fprintf(&text, "---\nschema: olm.bundle\nname: p.v%s\npackage: p\nimage: example.com/p:v%s\nproperties: [{type: olm.package, value: {packageName: p, version: %s}}]\n", v, v, v)
	}
	c := must.Value(catalog.LoadFile(t.Context(), "p.yaml", strings.NewReader(text.String()+channels), catalog.LoadOptions{}))(t)
	return c
}

func texts(walks []Walk) []string {
	var all []string
	for _, w := range walks {
		text := ""
		for i, e := range w.Edges {
			if i == 0 {
				text = e.From + e.To
			} else {
				text += " " + e.To
			}
		}
		all = append(all, text)
	}
	return all
}

func reasons(skipped []Result) []string {
	var all []string
	for _, r := range skipped {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s: %s", r.API, r.Edge.From, r.Edge.To, r.Skipped)))
	}
	return all
}

func TestWalks(t *testing.T) {
	for name, tc := range map[string]struct {
		channels string
		versions []string
		lacks    []string
		v0, v1   []string // walks
		skipped  []string
	}{
		"two channels that end apart": {
			channels: `
---
{schema: olm.channel, package: p, name: stable, entries: [{name: p.v1.0.0}, {name: p.v1.1.0, replaces: p.v1.0.0}]}
---
{schema: olm.channel, package: p, name: fast, entries: [{name: p.v1.0.0}, {name: p.v1.1.0, replaces: p.v1.0.0}, {name: p.v1.2.0, replaces: p.v1.1.0, skips: [p.v1.0.0]}]}
`,
			versions: []string{"1.0.0", "1.1.0", "1.2.0"},
			// In channel fast, 1.0.0 is skipped: its edge to 1.1.0 is that of stable.
			v0: []string{"p.v1.0.0 p.v1.1.0 p.v1.2.0", "p.v1.0.0 p.v1.2.0"},
			v1: []string{"p.v1.0.0 p.v1.1.0 p.v1.2.0", "p.v1.0.0 p.v1.2.0"},
		},
		"an upgrade is taken twice where that saves a walk": {
			channels: `
---
{schema: olm.channel, package: p, name: stable, entries: [{name: p.v1.2.0, skips: [p.v1.0.0, p.v1.1.0]}, {name: p.v1.3.0, replaces: p.v1.2.0}]}
---
{schema: olm.channel, package: p, name: a, entries: [{name: p.v1.4.0, replaces: p.v1.3.0}]}
---
{schema: olm.channel, package: p, name: b, entries: [{name: p.v1.5.0, replaces: p.v1.3.0}]}
`,
			versions: []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0"},
			v0:       []string{"p.v1.0.0 p.v1.2.0 p.v1.3.0 p.v1.4.0", "p.v1.1.0 p.v1.2.0 p.v1.3.0 p.v1.5.0"},
			v1:       []string{"p.v1.0.0 p.v1.2.0 p.v1.3.0 p.v1.4.0", "p.v1.1.0 p.v1.2.0 p.v1.3.0 p.v1.5.0"},
		},
		"a skipRange leads on, not back; v0 goes back where a name says so": {
			channels: `
---
{schema: olm.channel, package: p, name: stable, entries: [{name: p.v1.1.0, skipRange: "<3.0.0", replaces: p.v2.0.0}]}
---
{schema: olm.channel, package: p, name: old, entries: [{name: p.v1.0.0}, {name: p.v2.0.0}, {name: p.v3.0.0, skips: [p.v1.0.0, p.v2.0.0]}]}
`,
			versions: []string{"1.0.0", "1.1.0", "2.0.0", "3.0.0"},
			v0:       []string{"p.v1.0.0 p.v1.1.0", "p.v1.0.0 p.v3.0.0", "p.v2.0.0 p.v1.1.0", "p.v2.0.0 p.v3.0.0"},
			v1:       []string{"p.v1.0.0 p.v1.1.0", "p.v1.0.0 p.v3.0.0", "p.v2.0.0 p.v3.0.0"},
		},
		"a bundle without upgrades is installed, and one that nobody can have is not": {
			channels: `
---
{schema: olm.channel, package: p, name: stable, entries: [{name: p.v1.0.0}]}
---
{schema: olm.channel, package: p, name: two, entries: [{name: p.v1.1.0}, {name: p.v1.2.0}]}
`,
			versions: []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0"}, // 1.3.0 is in no channel
			v0:       []string{"p.v1.0.0"},
			v1:       []string{"p.v1.0.0", "p.v1.1.0", "p.v1.2.0"},
			skipped: []string{
				`v0  p.v1.1.0: v0 leaves out channel "two": it has more than one head: "p.v1.1.0", "p.v1.2.0"`,
				`v0  p.v1.2.0: v0 leaves out channel "two": it has more than one head: "p.v1.1.0", "p.v1.2.0"`,
			},
		},
		"what has no content is skipped, once": {
			channels: `
---
{schema: olm.channel, package: p, name: stable, entries: [{name: p.v1.0.0, replaces: p.v0.9.0}, {name: p.v1.1.0, replaces: p.v1.0.0}, {name: p.v1.2.0, replaces: p.v1.1.0}]}
---
{schema: olm.channel, package: p, name: alone, entries: [{name: p.v2.0.0}]}
`,
			versions: []string{"1.0.0", "1.1.0", "1.2.0", "2.0.0"},
			lacks:    []string{"p.v1.1.0", "p.v2.0.0"},
			v0:       []string{"p.v1.0.0", "p.v1.2.0"},
			v1:       []string{"p.v1.0.0", "p.v1.2.0"},
			skipped: []string{
				"v0 p.v0.9.0 p.v1.0.0: the catalog has no bundle p.v0.9.0: it only names it",
				"v0 p.v1.0.0 p.v1.1.0: the content of p.v1.1.0 is not to be had",
				"v0 p.v1.1.0 p.v1.2.0: the content of p.v1.1.0 is not to be had",
				"v0  p.v2.0.0: the content of p.v2.0.0 is not to be had",
				"v1 p.v0.9.0 p.v1.0.0: the catalog has no bundle p.v0.9.0: it only names it",
				"v1 p.v1.0.0 p.v1.1.0: the content of p.v1.1.0 is not to be had",
				"v1 p.v1.1.0 p.v1.2.0: the content of p.v1.1.0 is not to be had",
				"v1  p.v2.0.0: the content of p.v2.0.0 is not to be had",
			},
		},
		"upgrades in a circle": {
			channels: `
---
{schema: olm.channel, package: p, name: a, entries: [{name: p.v1.1.0, replaces: p.v1.0.0}]}
---
{schema: olm.channel, package: p, name: b, entries: [{name: p.v1.0.0, replaces: p.v1.1.0}]}
`,
			versions: []string{"1.0.0", "1.1.0"},
			v0:       []string{"p.v1.0.0 p.v1.1.0 p.v1.0.0"},
			v1:       []string{"p.v1.0.0 p.v1.1.0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := pack(t, tc.channels, tc.versions...)
			has := func(bundle string) bool { return !slices.Contains(tc.lacks, bundle) }
			var skipped []string
			for _, by := range []struct {
				semantics graph.Semantics
				want      []string
			}{{graph.V0, tc.v0}, {graph.V1, tc.v1}} {
				walks, results := Walks(must.Value(graph.UpgradesOf(c, "p", by.semantics))(t), has)
				must.Equal(t, "walks of "+string(by.semantics), texts(walks), by.want)
				skipped = append(skipped, reasons(results)...)
			}
			must.Equal(t, "what is skipped", skipped, tc.skipped)
		})
	}
}

func TestEdgesSayWhereTheyAre(t *testing.T) {
	c := pack(t, `
---
{schema: olm.channel, package: p, name: stable, entries: [{name: p.v1.0.0}, {name: p.v1.1.0, replaces: p.v1.0.0, skipRange: "<1.1.0"}]}
---
{schema: olm.channel, package: p, name: fast, entries: [{name: p.v1.1.0, skipRange: "<1.1.0"}]}
`, "1.0.0", "1.1.0")
	walks, skipped := Walks(must.Value(graph.UpgradesOf(c, "p", graph.V1))(t), nil)
	must.Equal(t, "walks", walks, []Walk{{Package: "p", Edges: []Edge{
		{Package: "p", To: "p.v1.0.0", ToVersion: "1.0.0", Channels: []string{"stable"}, Position: catalog.Position{File: "p.yaml", Line: 6}},
		{Package: "p", From: "p.v1.0.0", FromVersion: "1.0.0", To: "p.v1.1.0", ToVersion: "1.1.0", Channels: []string{"fast", "stable"}, Position: catalog.Position{File: "p.yaml", Line: 12}},
	}}})
	must.Equal(t, "skipped", len(skipped), 0)
	if _, err := graph.UpgradesOf(c, "q", graph.V1); err == nil || !strings.Contains(err.Error(), `package "q": the catalog has no such package`) {
		t.Error(err)
	}
}

// FuzzWalks takes any channels of a few bundles and demands that every upgrade is walked or skipped, and every bundle installed that is offered.
func FuzzWalks(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte{0, 5, 1, 4, 2, 3, 3, 2, 4, 1, 5, 0, 0, 0, 7, 7, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func(n int) int {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return int(b) % n
		}
		versions := []string{"1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0"}
		var channels strings.Builder
		for _, channel := range []string{"a", "b"} {
			fmt.Fprintf(&channels, "---\n{schema: olm.channel, package: p, name: %s, entries: [", channel)
			for i, v := range versions {
				if next(4) == 3 {
					continue
				}
				replaces, skips := "p.v"+versions[max(i-1, 0)], "[]"
				if next(3) == 2 {
					replaces = "p.v" + append(versions, "0.9.0")[next(6)]
				}
				if next(3) == 2 {
					skips = "[p.v" + versions[next(5)] + "]"
				}
				ranged := []string{"", "<2.0.0", ">=1.0.0 <9.0.0"}[next(3)]
				fmt.Fprintf(&channels, "{name: p.v%s, replaces: %s, skips: %s, skipRange: %q},", v, replaces, skips, ranged)
			}
			channels.WriteString("]}\n")
		}
		lacks := next(8)
		c := pack(t, channels.String(), versions...)
		for _, semantics := range []graph.Semantics{graph.V0, graph.V1} {
			u := must.Value(graph.UpgradesOf(c, "p", semantics))(t)
			checkWalks(t, u, func(name string) bool { return lacks >= len(versions) || name != "p.v"+versions[lacks] })
		}
	})
}

func checkWalks(t *testing.T, u *graph.Upgrades, has func(string) bool) []Walk {
	t.Helper()
	walks, skipped := Walks(u, has)
	count, installed := map[string]int{}, map[string]bool{}
	for _, w := range walks {
		at := ""
		for i, e := range w.Edges {
			if e.From != at || i == 0 && e.From != "" || !has(e.To) {
				t.Errorf("walk %v breaks at %s", texts([]Walk{w}), e.To)
			}
			count[e.From+" to "+e.To]++
			installed[e.To] = true
			at = e.To
		}
	}
	for _, r := range skipped {
		if count[r.Edge.From+" to "+r.Edge.To] > 0 || r.Skipped == "" {
			t.Errorf("%v is walked and skipped for %q", r.Edge, r.Skipped)
		}
		count[r.Edge.From+" to "+r.Edge.To]++
	}
	for _, hop := range u.Hops {
		if count[hop.From.Name+" to "+hop.To.Name] == 0 {
			t.Errorf("%s to %s is neither walked nor skipped", hop.From.Name, hop.To.Name)
		}
	}
	for _, v := range u.Versions {
		if len(v.Channels) > 0 && v.Bundle && has(v.Name) && !installed[v.Name] {
			t.Errorf("%s is offered and not installed", v.Name)
		}
	}
	return walks
}
