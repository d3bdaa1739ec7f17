package graph

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
)

// Format is a way to draw a Picture.
type Format string

const (
	Text    Format = "text" // for terminals
	Mermaid Format = "mermaid"
	DOT     Format = "dot" // for Graphviz
	SVG     Format = "svg"
	// Embedded is an SVG without a style of its own, for a page that has one for its classes and allows no other.
	Embedded Format = "embedded"
)

// Draw writes the picture.
func (p *Picture) Draw(w io.Writer, format Format) error {
	out := bufio.NewWriter(w)
	switch format {
	case Text:
		// Draw for a terminal: each channel as the chain from its head down, then what is beside it.
		for i, pkg := range p.Packages {
			if i > 0 {
				fmt.Fprintln(out)
			}
			notes := []string{"package " + show(pkg.Name)}
			if pkg.DefaultChannel != "" {
				notes = append(notes, "default channel "+show(pkg.DefaultChannel))
			}
			if pkg.Deprecated {
				notes = append(notes, "deprecated")
			}
			fmt.Fprintln(out, strings.Join(notes, ", "))
			for _, c := range pkg.Channels {
				c.text(out, p.v0)
			}
		}
	case Mermaid:
		// Draw for mermaid.js, with arrows from the older to the newer version.
		fmt.Fprint(out, "graph LR\n"+
			"  classDef deprecated fill:#E8960F\n"+
			"  classDef skipped stroke:#FF0000,stroke-width:4px\n"+
			"  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px\n")
		m := mermaid{Writer: out, v0: p.v0, classes: map[string][]string{}, ids: mermaidIDs{given: map[string]string{}, taken: map[string]bool{}}}
		for _, pkg := range p.Packages {
			m.pkg(pkg)
		}
		for _, style := range m.styles {
			fmt.Fprintf(out, "  %s\n", style)
		}
		for _, class := range []string{"deprecated", "deprecatedskipped", "skipped"} {
			if ids := m.classes[class]; len(ids) > 0 {
				slices.Sort(ids)
				fmt.Fprintf(out, "  class %s %s\n", strings.Join(slices.Compact(ids), ","), class)
			}
		}
		if len(m.dashed) > 0 {
			fmt.Fprintf(out, "  linkStyle %s stroke:#FF0000,stroke-width:3px,stroke-dasharray:5;\n", strings.Join(m.dashed, ","))
		}
	case DOT:
		// Draw for Graphviz, with arrows from the older to the newer version
		fmt.Fprint(out, "digraph catalog {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"monospace\"];\n  edge [fontname=\"monospace\", fontsize=10];\n")
		for i, pkg := range p.Packages {
			style := ""
			if pkg.Deprecated {
				style = " style=filled; fillcolor=\"#989695\";"
			}
			fmt.Fprintf(out, "  subgraph cluster_%d {\n    label=%s;%s\n", i, dotText(pkg.Name), style)
			for j, c := range pkg.Channels {
				p.dotChannel(out, fmt.Sprintf("%d_%d", i, j), c)
			}
			fmt.Fprint(out, "  }\n")
		}
		fmt.Fprint(out, "}\n")
	case SVG:
		p.svg(out, svgStyle)
	case Embedded:
		p.svg(out, "")
	default:
		return fmt.Errorf("draw the upgrade graph: there is no format %s; choose text, mermaid, dot or svg", safetext.Quote(string(format)))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("draw the upgrade graph: %w", err)
	}
	return nil
}

// show is a name as it may stand in a terminal or a drawing: as it is, unless
// it holds what could not be seen.
func show(name string) string {
	if q := safetext.Quote(name); q != `"`+name+`"` {
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

func (p *Picture) dotChannel(w *bufio.Writer, number string, c ChannelPicture) {
	style := ""
	if c.Deprecated {
		style = " style=filled; fillcolor=\"#DCD0FF\";"
	}
	fmt.Fprintf(w, "    subgraph cluster_%s {\n      label=%s;%s\n", number, dotText(c.Name), style)
	node := func(name string) string { return dotText(number + "/" + name) }
	listed := map[string]bool{}
	for _, e := range c.Entries {
		listed[e.Name] = true
		var more []string
		if e.Deprecated {
			more = append(more, "fillcolor=\"#E8960F\"")
		}
		if e.SkippedBy != "" {
			more = append(more, "color=\"#FF0000\"", "penwidth=2")
		}
		fmt.Fprintf(w, "      %s [label=%s];\n", node(e.Name), strings.Join(append([]string{dotText(e.Name)}, more...), ", "))
	}
	for _, e := range c.Entries {
		for _, edge := range e.Edges {
			if !listed[edge.From] {
				listed[edge.From] = true
				fmt.Fprintf(w, "      %s [label=%s, style=\"rounded,dashed\", color=gray];\n", node(edge.From), dotText(edge.From))
			}
			look := map[Kind]string{
				Replaces: "label=replaces", Skips: "label=skips, style=dashed",
				SkipRange: "label=" + dotText("skipRange "+edge.Range) + ", style=dotted",
			}[edge.Kind]
			if p.v0 && e.SkippedBy != "" {
				look += ", color=\"#FF0000\""
			}
			fmt.Fprintf(w, "      %s -> %s [%s];\n", node(edge.From), node(e.Name), look)
		}
	}
	fmt.Fprint(w, "    }\n")
}

// dotText is a quoted text in which nothing has a meaning.
func dotText(text string) string {
	return `"` + strings.Map(printable, dotEscapes.Replace(text)) + `"`
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
