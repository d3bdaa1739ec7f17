package graph

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// hundreds is a package with a chain of versions, each with a range, in two channels.
func hundreds(n int) *catalog.Catalog {
	c := &catalog.Catalog{Packages: []catalog.Package{{Name: "p", DefaultChannel: "stable"}}}
	for _, name := range []string{"stable", "fast"} {
		channel := catalog.Channel{Name: name, Package: "p"}
		for i := range n {
			e := catalog.Entry{Name: fmt.Sprintf("p.v1.%d.0", i), SkipRange: fmt.Sprintf(">=1.0.0 <1.%d.0", i)}
			if i > 0 {
				e.Replaces = fmt.Sprintf("p.v1.%d.0", i-1)
			}
			channel.Entries = append(channel.Entries, e)
		}
		c.Channels = append(c.Channels, channel)
	}
	for i := range n {
		c.Bundles = append(c.Bundles, catalog.Bundle{Name: fmt.Sprintf("p.v1.%d.0", i), Package: "p", Properties: []catalog.Property{{
			Type: catalog.PropertyPackage, Value: []byte(fmt.Sprintf(`{"packageName":"p","version":"1.%d.0"}`, i))}}})
	}
	return c
}

// TestNewest: the newest entries are left, and edges between these alone.
func TestNewest(t *testing.T) {
	p := must.Value(NewPicture(hundreds(100), DrawOptions{}))(t)
	must.Equal(t, "a channel that is there", p.Channel("fast"), true)
	must.Equal(t, "left out", p.Newest(40), 60)
	must.Equal(t, "channels", len(p.Packages[0].Channels), 1)
	c := p.Packages[0].Channels[0]
	must.Equal(t, "entries", len(c.Entries), 40)
	must.Equal(t, "the newest", c.Entries[0].Name, "p.v1.99.0")
	there := map[string]bool{}
	for _, e := range c.Entries {
		there[e.Name] = true
	}
	edges := 0
	for _, e := range c.Entries {
		for _, edge := range e.Edges {
			if edges++; !there[edge.From] {
				t.Errorf("an edge leads from %s, which is left out, to %s", edge.From, e.Name)
			}
		}
	}
	if edges < 39 {
		t.Errorf("there are %d edges", edges)
	}
	must.Equal(t, "left out once more", p.Newest(40), 0)
	must.Equal(t, "a channel that is not there", p.Channel("beta"), false)
}

// TestEmbedded is an SVG for a page that lets no style in but its own.
func TestEmbedded(t *testing.T) {
	p := must.Value(NewPicture(hundreds(10), DrawOptions{}))(t)
	var out bytes.Buffer
	must.NoError(t, p.Draw(&out, Embedded))
	wellFormed(t, out.Bytes())
	must.Contain(t, "the drawing", out.String(), `aria-hidden="true"`, `class="edge replaces"`, "p.v1.9.0")
	must.Lack(t, "the drawing", out.String(), "<style", "style=", `fill="#fff"`)
	var whole bytes.Buffer
	must.NoError(t, p.Draw(&whole, SVG))
	must.Contain(t, "a drawing of its own", whole.String(), "<style>")
	_, after, _ := strings.Cut(whole.String(), `fill="#fff"/>`)
	_, embedded, _ := strings.Cut(out.String(), `focusable="false">`)
	must.Equal(t, "what is drawn", embedded, after)
}
