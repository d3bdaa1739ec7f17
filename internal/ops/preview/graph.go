package preview

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
)

// Graph is how the versions of a channel follow on each other, drawn.
type Graph struct {
	Channel string `json:"channel"`
	// Picture is what is drawn, Text the same in characters.
	Picture *graph.Picture `json:"picture"`
	Text    string         `json:"-"`
	// Left is how many older entries are left out.
	Left int `json:"left,omitempty"`
}

// maxGraph bounds the objects of a package that are read for its graph, in bytes.
const maxGraph = 256 << 20

// graphOf draws the graph of a package of an index.
func graphOf(ctx context.Context, x *catalog.Index, pkg string, draw GraphChoice, v0 bool) (*Graph, error) {
	var content bytes.Buffer
	for _, filter := range []catalog.ObjectFilter{{Schema: catalog.SchemaPackage, Name: pkg}, {Package: pkg}} { // the first is in no package
		for line, err := range x.Objects(filter) {
			if err != nil {
				return nil, fmt.Errorf("read package %s: %w", pkg, err)
			}
			if content.Len()+len(line) > maxGraph {
				return nil, fmt.Errorf("read package %s: it has more than %d MiB", pkg, maxGraph>>20)
			}
			content.Write(line)
			content.WriteByte('\n')
		}
	}
	c, err := catalog.LoadFile(ctx, pkg+".json", &content, catalog.LoadOptions{})
	if err != nil {
		return nil, fmt.Errorf("read package %s: %w", pkg, err)
	}
	picture, err := graph.NewPicture(c, graph.DrawOptions{Package: pkg, V0: v0})
	if err != nil {
		return nil, err
	}
	g := &Graph{Channel: cmp.Or(draw.Channel, picture.Packages[0].DefaultChannel), Picture: picture}
	if !picture.Channel(g.Channel) {
		return nil, fmt.Errorf("package %s has no channel %s; choose one of those in the table", pkg, g.Channel)
	}
	g.Left = picture.Newest(draw.Newest)
	var text strings.Builder
	if err := picture.Draw(&text, graph.Text); err != nil {
		return nil, err
	}
	g.Text = text.String()
	return g, nil
}

// SVG is the drawing for a page that has the style for it: every text in it is escaped.
func (g *Graph) SVG() (string, error) {
	var out strings.Builder
	err := g.Picture.Draw(&out, graph.Embedded)
	return out.String(), err
}
