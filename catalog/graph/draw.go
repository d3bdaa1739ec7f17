package graph

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// Format is a way to draw a Picture.
type Format string

const (
	Text    Format = "text" // for terminals
	Mermaid Format = "mermaid"
	DOT     Format = "dot" // for Graphviz
	SVG     Format = "svg"
)

// Draw writes the picture.
func (p *Picture) Draw(w io.Writer, format Format) error {
	out := bufio.NewWriter(w)
	switch format {
	case Text:
		p.text(out)
	case Mermaid:
		p.mermaid(out)
	case DOT:
		p.dot(out)
	case SVG:
		p.svg(out)
	default:
		return fmt.Errorf("draw the upgrade graph: there is no format %s; choose text, mermaid, dot or svg", quote(string(format)))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("draw the upgrade graph: %w", err)
	}
	return nil
}

// show is a name as it may stand in a terminal or a drawing: as it is, unless
// it holds what could not be seen.
func show(name string) string {
	if q := quote(name); q != `"`+name+`"` {
		return q
	}
	return name
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
