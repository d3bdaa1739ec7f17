package graph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
	"fairlead.dev/fairlead/version"
)

// FuzzGraph takes any small catalog, broken or not, and compares every answer
// with one that is found by looking at everything.
func FuzzGraph(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range sweep.Of(50, 150, 500) {
		seed := make([]byte, 100)
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g := genes(data)
		c := randomCatalog(&g)
		Check(c, Options{Installed: []Installed{{Package: "p", Version: "1.0.5"}, {Package: "p", Channel: "b", Version: "p.v0.9.0"}}})
		drawAll(t, c)
		x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
		channels := []string{"", "a", "b", "c"}
		versions := []string{"p.v0.9.0", "1.0.0", "p.v1.0.1", "1.1.0+1", "1.5.0", "p.v2.1.0", "3.0.0"}
		for range 3 {
			walkEverywhere(t, c, x, channels[g.next(len(channels))], versions[g.next(len(versions))])
		}
	})
}

func drawAll(t *testing.T, c *catalog.Catalog) {
	t.Helper()
	for _, opts := range []DrawOptions{{}, {V0: true, Package: "p"}, {MinimumEdge: "p.v1.0.1"}} {
		p, err := NewPicture(c, opts)
		if err != nil {
			continue // the minimum edge is no bundle
		}
		for _, format := range []Format{Text, Mermaid, DOT, SVG} {
			var out bytes.Buffer
			must.NoError(t, p.Draw(&out, format))
			if format == SVG {
				wellFormed(t, out.Bytes())
			}
		}
	}
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
}

// walkEverywhere compares the ways to all versions with those of a resolver
// that looks at everything.
func walkEverywhere(t *testing.T, c *catalog.Catalog, x *catalog.Index, channel, from string) {
	t.Helper()
	for _, to := range append([]string{""}, someVersions...) {
		j, err := Path(c, Query{Package: "p", Channel: channel, From: from, To: to})
		if err != nil {
			continue // no such channel or version
		}
		all := oracle{c: c, x: x, channel: channel}
		if j.From.Version == "" {
			t.Fatalf("%s has no version", from)
		}
		all.follow(t, "v0", j.From, j.V0.Hops, all.v0)
		all.follow(t, "v1", j.From, j.V1.Hops, all.v1)
		if to == "" {
			continue
		}
		if got, want := j.V0.Reached, ends(j.From, j.V0.Hops) == j.To; got != want {
			t.Errorf("v0 reached is %v from %s to %s in %q: %v", got, from, to, channel, j.V0)
		}
		if got, want := j.V1.Reached || j.V1.Pinned != nil, all.reachable(j.From)[j.To.Name]; got != want {
			t.Errorf("%s can be reached from %s in %q: %v, looking at everything %v", to, from, channel, got, want)
		}
		for _, hop := range j.V1.Pinned {
			if !slices.Contains(all.successors(hop.From), hop.To.Name) {
				t.Errorf("the pinned hop %v is no edge", hop)
			}
		}
		if n := len(j.V1.Pinned); n > 0 && (j.V1.Pinned[n-1].To != j.To || j.V1.Pinned[0].From != j.From) {
			t.Errorf("the pinned way leads elsewhere: %v", j.V1.Pinned)
		}
		if !j.V0.Reached && (j.V0.Reason == "" || j.V0.Remedy == "") || !j.V1.Reached && (j.V1.Reason == "" || j.V1.Remedy == "") {
			t.Errorf("no reason or remedy: %+v", j)
		}
	}
}

func ends(from Stop, hops []Hop) Stop {
	if len(hops) == 0 {
		return from
	}
	return hops[len(hops)-1].To
}

// oracle answers by looking at everything.
type oracle struct {
	c       *catalog.Catalog
	x       *catalog.Index
	channel string
}

// follow demands that hops are what next says.
func (o oracle) follow(t *testing.T, what string, at Stop, hops []Hop, next func(Stop) string) {
	t.Helper()
	for _, hop := range hops {
		if want := next(at); hop.From != at || hop.To.Name != want || len(hop.Edges) == 0 {
			t.Fatalf("%s in channel %q: from %v the hop is %v, not to %q", what, o.channel, at, hop, want)
		}
		at = hop.To
	}
}

// v0 is the entry that internal/resolution prefers.
func (o oracle) v0(at Stop) string {
	p, ok := o.x.Package("p")
	if !ok {
		return ""
	}
	installed := semantic(at.Name)
	for _, c := range p.Channels {
		for _, e := range c.Entries {
			if (o.channel == "" || c.Name == o.channel) && e.InChain && e.Name != at.Name && !e.Bundle.Deprecated &&
				(e.Replaces == at.Name || slices.Contains(e.Skips, at.Name) || e.SkipRange.Contains(installed.Version) && catalog.Released(e.Bundle.Version).Compare(installed) >= 0) {
				return e.Name
			}
		}
	}
	return ""
}

// semantic is the version that a name ends with.
func semantic(name string) version.VersionRelease {
	v, _ := versionInName(name)
	return v
}

// v1 is the best of the successors and of what is installed.
func (o oracle) v1(at Stop) string {
	best := ""
	candidates := o.successors(at)
	if slices.Contains(o.offered(), at.Name) {
		best = at.Name
	}
	for _, name := range candidates {
		if best == "" || o.better(name, best) {
			best = name
		}
	}
	if best == at.Name {
		return ""
	}
	return best
}

func (o oracle) better(a, b string) bool {
	if o.deprecated(a) != o.deprecated(b) {
		return !o.deprecated(a)
	}
	return o.version(a).Compare(o.version(b)) > 0
}

func (o oracle) deprecated(name string) bool {
	return slices.ContainsFunc(o.c.Deprecations[0].Entries, func(d catalog.Deprecation) bool { return d.Reference.Name == name })
}

func (o oracle) version(name string) version.VersionRelease {
	for i := range o.c.Bundles {
		if o.c.Bundles[i].Name == name {
			v, _ := versionOf(&o.c.Bundles[i])
			return v
		}
	}
	return version.VersionRelease{}
}

// offered are the bundles of the channels.
func (o oracle) offered() []string {
	var found []string
	for _, c := range o.c.Channels {
		for _, e := range c.Entries {
			if (o.channel == "" || c.Name == o.channel) && slices.ContainsFunc(o.c.Bundles, func(b catalog.Bundle) bool { return b.Name == e.Name }) {
				found = append(found, e.Name)
			}
		}
	}
	return found
}

// successors are the bundles with an edge from a version.
func (o oracle) successors(at Stop) []string {
	offered := o.offered()
	var found []string
	for _, c := range o.c.Channels {
		for _, e := range c.Entries {
			if o.channel != "" && c.Name != o.channel || !slices.Contains(offered, e.Name) || e.Name == at.Name {
				continue
			}
			r, _ := version.ParseRange(e.SkipRange)
			if e.Replaces == at.Name || slices.Contains(e.Skips, at.Name) || r.Contains(semantic(at.Name).Version) ||
				o.version(e.Name).Compare(semantic(at.Name)) == 0 {
				found = append(found, e.Name)
			}
		}
	}
	return found
}

func (o oracle) reachable(from Stop) map[string]bool {
	reached := map[string]bool{from.Name: true}
	queue := []Stop{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, name := range o.successors(at) {
			if !reached[name] {
				reached[name] = true
				queue = append(queue, Stop{Name: name, Version: o.version(name).String()})
			}
		}
	}
	return reached
}

// FuzzSpans compares the stretches of versions in a range with asking for each.
func FuzzSpans(f *testing.F) {
	for _, text := range append(someRanges, ">=3.6.x <3.10.0-nightly.20230926", "<=1.x !1.0.0 || >2.0.0-rc.1", ">1.1.x || 1.x.x || =1.0.1", "!=1.1.x") {
		f.Add(text)
	}
	var all []*node
	for _, text := range append(someVersions, "0.0.0", "0.9.9", "1.2.0", "1.2.0-0", "2.0.0-rc.1", "2.0.0-rc.2", "3.6.0", "3.10.0-nightly.1", "10.0.0") {
		all = append(all, &node{name: text, version: semantic(text), known: true})
	}
	slices.SortFunc(all, (*node).compare)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := version.ParseRange(text)
		if err != nil {
			return
		}
		in := map[*node]bool{}
		spans(all, newSkipRange(r), func(from, to int) {
			for _, v := range all[from:to] {
				in[v] = true
			}
		})
		for _, v := range all {
			if in[v] != r.Contains(v.version.Version) {
				t.Errorf("%q contains %s: %v, found %v", text, v.name, !in[v], in[v])
			}
		}
	})
}
