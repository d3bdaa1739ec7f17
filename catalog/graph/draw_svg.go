package graph

import (
	"bufio"
	"fmt"
	"html"
	"slices"
	"strings"
)

const svgStyle = `
text{font:12px "DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#1b1f24}
.package{font-size:18px;font-weight:bold}.channel{font-size:14px;font-weight:bold}
.note{fill:#6a737d}.refused{fill:#cf222e}
.panel{fill:#f6f8fa;stroke:#d0d7de}.panel.deprecated{fill:#DCD0FF}
.dot{fill:#1f6feb;stroke:#1f6feb;stroke-width:2}.dot.beside{fill:#fff}.dot.outside{fill:#fff;stroke:#8c959f;stroke-dasharray:2}
.dot.skipped{stroke:#FF0000}.dot.deprecated{fill:#E8960F}.dot.deprecated:not(.skipped){stroke:#E8960F}
.edge{fill:none;stroke-width:1.6}.replaces{stroke:#1f6feb}.skips{stroke:#bf8700}.skipRange{stroke:#8c959f;stroke-dasharray:2 3}
.ignored{stroke:#FF0000;stroke-dasharray:5}
.tip.replaces{fill:#1f6feb}.tip.skips{fill:#bf8700}.tip.skipRange{fill:#8c959f}.tip{stroke:none}
`

// svg draws the newest version of each channel on top. Without a style it is a part of a page, which says what it shows, and how it looks.
func (p *Picture) svg(w *bufio.Writer, style string) {
	type group struct {
		pkg    PackagePicture
		panels []*panel
		y      float64
	}
	var groups []group
	width, y := 640.0, 60.0
	for _, pkg := range p.Packages {
		g := group{pkg: pkg, y: y + 22}
		for _, c := range pkg.Channels {
			g.panels = append(g.panels, newPanel(c))
		}
		right, bottom := arrange(g.panels, y+36)
		width, y = max(width, right, float64(len([]rune(show(pkg.Name)))+30)*11), bottom+panelSpace
		groups = append(groups, g)
	}
	fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\"", width, y, width, y)
	if style != "" {
		fmt.Fprintf(w, ">\n<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", style)
	} else {
		fmt.Fprint(w, " aria-hidden=\"true\" focusable=\"false\">\n")
	}
	s := svg{Writer: w, v0: p.v0}
	// What the lines mean.
	x := float64(panelSpace)
	for _, kind := range []Kind{Replaces, Skips, SkipRange} {
		fmt.Fprintf(s, "<path class=\"edge %s\" d=\"M%.1f 26h30\"/>\n", kind, x)
		s.label("note", x+38, 30, string(kind))
		x += 140
	}
	s.label("note", x, 30, "upgrades lead upwards")
	for _, g := range groups {
		title := "package " + show(g.pkg.Name)
		if g.pkg.Deprecated {
			title += " (deprecated)"
		}
		s.label("package", panelSpace, g.y, title)
		for _, panel := range g.panels {
			s.panel(panel, g.pkg.DefaultChannel)
		}
	}
	fmt.Fprint(w, "</svg>\n")
}

type svg struct {
	*bufio.Writer
	v0 bool
}

func (s *svg) label(class string, x, y float64, text string) {
	fmt.Fprintf(s, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, x, y, html.EscapeString(strings.Map(printable, text)))
}

func (s *svg) panel(p *panel, standard string) {
	class := "panel"
	if p.channel.Deprecated {
		class += " deprecated"
	}
	fmt.Fprintf(s, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"6\"/>\n", class, p.x, p.y, p.width(), p.height())
	title := show(p.channel.Name)
	if p.channel.Name == standard {
		title += " (default)"
	}
	s.label("channel", p.x+12, p.y+20, title)
	switch {
	case p.channel.Refused != "":
		fmt.Fprintf(s, "<g><title>%s</title>\n", html.EscapeString(strings.Map(printable, p.channel.Refused)))
		s.label("refused", p.x+12, p.y+38, "v0 leaves it out")
		fmt.Fprint(s, "</g>\n")
	case p.unseen:
		s.label("note", p.x+12, p.y+38, "skipRange not drawn")
	}
	for i := range p.rows[:max(len(p.rows)-1, 0)] {
		// Draw the edge by which a row replaces the one below it.
		if e := p.rows[i].entry; e != nil && slices.ContainsFunc(e.Edges, func(edge EdgePicture) bool { return edge.Kind == Replaces && edge.From == p.rows[i+1].name }) {
			fmt.Fprintf(s, "<path class=\"edge replaces%s\" d=\"M%.1f %.1fV%.1f\"/>\n", s.ignored(p, i), p.dotX(), p.rowY(i+1)-6, p.rowY(i)+6)
		}
	}
	for _, l := range p.lanes {
		// Draw the edges to one entry: a line along the rows with a branch to each of those it comes from, and a tip where it
		// arrives
		x, dot, y := p.laneX(l), p.dotX(), p.rowY(l.to)
		shift := map[Kind]float64{Replaces: 0, Skips: -4, SkipRange: 4}[l.kind]
		fmt.Fprintf(s, "<path class=\"edge %s%s\" d=\"M%.1f %.1fV%.1f", l.kind, s.ignored(p, l.to), x, p.rowY(l.top)+shift, p.rowY(l.end)+shift)
		for _, from := range l.from {
			fmt.Fprintf(s, "M%.1f %.1fH%.1f", x, p.rowY(from)+shift, dot-7)
		}
		fmt.Fprintf(s, "M%.1f %.1fH%.1f\"/>\n", x, y+shift, dot-10)
		fmt.Fprintf(s, "<path class=\"tip %s\" d=\"M%.1f %.1fl-6 -3v6z\"/>\n", l.kind, dot-6, y+shift)
	}
	for i, r := range p.rows {
		class := "dot"
		if r.entry == nil {
			class += " outside"
		} else {
			class += r.entry.look()
		}
		fmt.Fprintf(s, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n", class, p.dotX(), p.rowY(i))
		name := "name"
		if r.entry == nil {
			name = "note"
		}
		s.label(name, p.textX(), p.rowY(i)+4, show(r.name))
		if r.note != "" {
			s.label("note", p.textX()+float64(p.names+2)*charWidth, p.rowY(i)+4, r.note)
		}
	}
}

// ignored is the class of edges to entries that v0 does not count.
func (s *svg) ignored(p *panel, i int) string {
	if s.v0 && p.rows[i].entry.SkippedBy != "" {
		return " ignored"
	}
	return ""
}

// look is the class of the dot of an entry.
func (e *EntryPicture) look() string {
	class := ""
	if e.SkippedBy != "" {
		class += " skipped"
	}
	if e.Deprecated {
		return class + " deprecated"
	}
	if !e.OnChain {
		return class + " beside"
	}
	return class
}
