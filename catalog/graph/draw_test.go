package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

func TestDraw(t *testing.T) {
	for _, a := range archives(t, "testdata/draw/*.txtar") {
		t.Run(stem(a.name), func(t *testing.T) {
			var opts DrawOptions
			for line := range strings.Lines(a.files["options"]) {
				switch name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name {
				case "v0":
					opts.V0 = true
				case "package":
					opts.Package = value
				case "minimum-edge":
					opts.MinimumEdge = value
				}
			}
			p, err := NewPicture(a.catalog(t), opts)
			must.NoError(t, err)
			drawings := 0
			for _, f := range a.Files {
				var out bytes.Buffer
				switch Format(f.Name) {
				case Text, Mermaid, DOT, SVG:
					err = p.Draw(&out, Format(f.Name))
				case "json":
					encoder := json.NewEncoder(&out)
					encoder.SetIndent("", "  ")
					err = encoder.Encode(p)
				default:
					continue
				}
				must.NoError(t, err)
				if Format(f.Name) == SVG {
					wellFormed(t, out.Bytes())
				}
				a.expect(t, f.Name, out.String())
				drawings++
			}
			if drawings == 0 {
				t.Error("the archive names no format")
			}
		})
	}
}

func TestDrawRefuses(t *testing.T) {
	c := &catalog.Catalog{Channels: []catalog.Channel{{Name: "c", Package: "p", Entries: []catalog.Entry{{Name: "a"}}}}}
	for name, opts := range map[string]DrawOptions{
		`no package "q"`:                   {Package: "q"},
		`unknown minimum edge name: "b"`:   {MinimumEdge: "b"},
		`unknown minimum edge name: "a"`:   {MinimumEdge: "a"}, // no bundle, so without a version
		`unknown minimum edge name: "a\nb`: {MinimumEdge: "a\nb"},
	} {
		if _, err := NewPicture(c, opts); err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(name, "\n", `\n`)) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	p := must.Value(NewPicture(c, DrawOptions{}))(t)
	if err := p.Draw(&bytes.Buffer{}, "png"); err == nil {
		t.Error("a format that does not exist is drawn")
	}
	if err := p.Draw(fullDisk{}, Text); !errors.Is(err, errFull) {
		t.Errorf("a writer that fails: %v", err)
	}
}

var errFull = errors.New("full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// TestLayout demands that nothing is drawn over something else: rows and panels
// have places of their own, lanes that meet run in different columns, and
// labels end within their panel.
func TestLayout(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		seed := make([]byte, 100)
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		g := genes(seed)
		p := must.Value(NewPicture(randomCatalog(&g), DrawOptions{}))(t)
		var panels []*panel
		for _, c := range p.Packages[0].Channels {
			panels = append(panels, newPanel(c))
		}
		width, height := arrange(panels, 50)
		for i, a := range panels {
			p := a
			for i, a := range p.lanes {
				if x := p.laneX(a); x < p.x+2 || x > p.dotX()-5 {
					t.Errorf("a lane runs at %v, outside of its panel or over the dots", x)
				}
				for _, b := range p.lanes[:i] {
					if a.column == b.column && a.top <= b.end && b.top <= a.end {
						t.Errorf("lanes to rows %d and %d meet", a.to, b.to)
					}
				}
			}
			for j, r := range a.rows {
				note := a.textX() + float64(a.names+2)*charWidth
				if end := a.textX() + float64(len(show(r.name)))*charWidth; end > note {
					t.Errorf("%s runs into its note", r.name)
				}
				if end := note + float64(len([]rune(r.note)))*charWidth; end > a.x+a.width() || a.rowY(j)+rowHeight/2 > a.y+a.height() {
					t.Errorf("%s leaves its panel", r.name)
				}
			}
			if a.x+a.width() > width || a.y+a.height() > height {
				t.Error("a panel leaves the sheet")
			}
			for _, b := range panels[:i] {
				if a.x < b.x+b.width() && b.x < a.x+a.width() && a.y < b.y+b.height() && b.y < a.y+a.height() {
					t.Error("two panels meet")
				}
			}
		}
	}
}

// TestLongChannelsStayUsable bounds the size of a drawing of a channel in which
// everything upgrades to everything that is newer.
func TestLongChannelsStayUsable(t *testing.T) {
	c := catalog.Catalog{Channels: []catalog.Channel{{Name: "c", Package: "p"}}}
	for i := range 300 {
		name := fmt.Sprintf("p.v1.%d.0", i)
		c.Bundles = append(c.Bundles, catalog.Bundle{Name: name, Package: "p", Properties: []catalog.Property{{
			Type: catalog.PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName":"p","version":"1.%d.0"}`, i)),
		}}})
		e := catalog.Entry{Name: name, SkipRange: fmt.Sprintf(">=1.0.0 <1.%d.0", i)}
		if i > 0 {
			e.Replaces = fmt.Sprintf("p.v1.%d.0", i-1)
		}
		c.Channels[0].Entries = append(c.Channels[0].Entries, e)
	}
	p := must.Value(NewPicture(&c, DrawOptions{}))(t)
	drawn := newPanel(p.Packages[0].Channels[0])
	arrange([]*panel{drawn}, 0)
	if drawn.width() > 800 || drawn.height() > 300*rowHeight+100 {
		t.Errorf("the channel is %v by %v", drawn.width(), drawn.height())
	}
	if !drawn.unseen {
		t.Error("it is not said that skipRanges are not drawn")
	}
}
