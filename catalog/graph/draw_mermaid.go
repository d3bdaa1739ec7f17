package graph

import (
	"bufio"
	"fmt"
	"strings"
)

type mermaid struct {
	*bufio.Writer
	v0      bool
	links   int                 // written so far
	dashed  []string            // numbers of links that v0 does not follow
	styles  []string            // of packages and channels
	classes map[string][]string // ids of nodes
	ids     mermaidIDs
}

func (m *mermaid) pkg(p PackagePicture) {
	id, label := m.ids.of(p.Name), mermaidLabel(p.Name)
	title := label // which is the identifier, too
	if id != p.Name {
		title = id + "[" + label + "]"
	}
	fmt.Fprintf(m, "  %%%% package %s\n  subgraph %s\n", label, title)
	if p.Deprecated {
		m.styles = append(m.styles, fmt.Sprintf("style %s fill:#989695", id))
	}
	for _, c := range p.Channels {
		id := m.ids.of(p.Name, c.Name)
		fmt.Fprintf(m, "    %%%% channel %s\n    subgraph %s[%s]\n", mermaidLabel(c.Name), id, mermaidLabel(c.Name))
		if c.Deprecated {
			m.styles = append(m.styles, fmt.Sprintf("style %s fill:#DCD0FF", id))
		}
		skipped := map[string]bool{} // by an entry that is drawn already, a newer one
		for _, e := range c.Entries {
			m.entry(func(name string) string { return m.ids.of(p.Name, c.Name, name) }, e, skipped)
		}
		fmt.Fprint(m, "    end\n")
	}
	fmt.Fprint(m, "  end\n")
}

func (m *mermaid) entry(id func(name string) string, e EntryPicture, skipped map[string]bool) {
	node := func(name string) string { return id(name) + "[" + mermaidLabel(name) + "]" }
	fmt.Fprintf(m, "      %s\n", node(e.Name))
	for _, edge := range e.Edges {
		arrow := "-- skip -->"
		switch edge.Kind {
		case Replaces:
			arrow = "-- replace -->"
		case SkipRange:
			arrow = fmt.Sprintf(`-- "skipRange(%s)" -->`, strings.Trim(mermaidLabel(edge.Range), `"`))
		}
		fmt.Fprintf(m, "      %s%s %s\n", node(edge.From), arrow, node(e.Name))
		// v0 passes by what leads to a skipped entry, and a skip of what a newer entry skips too, because an upgrade goes there.
		again := edge.Kind == Skips && skipped[edge.From]
		if edge.Kind == Skips {
			skipped[edge.From] = true
		}
		if m.v0 && (again || e.SkippedBy != "") {
			m.dashed = append(m.dashed, fmt.Sprint(m.links))
		}
		m.links++
	}
	class := ""
	if e.Deprecated {
		class = "deprecated"
	}
	if e.SkippedBy != "" {
		class += "skipped"
	}
	if class != "" {
		m.classes[class] = append(m.classes[class], id(e.Name))
	}
}
