package plan

import (
	"fmt"
	"strings"
)

// String tells the decision to a person: for each group what is to be installed, and why, what is held back, or why there is no answer.
func (r *Result) String() string {
	var b strings.Builder
	for i := range r.Groups {
		r.Groups[i].write(&b)
	}
	return b.String()
}

func (g *Group) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n", listSubscriptions(g.Subscriptions))
	for _, c := range g.Choices {
		c.write(b)
	}
	for _, h := range g.Held {
		h.write(b)
	}
	switch {
	case g.Err != nil:
		fmt.Fprintf(b, "  %s\n", indented(g.Err.Error(), "  "))
	case len(g.Choices) == 0:
		b.WriteString("  nothing to do\n")
	}
}

func (c *Choice) write(b *strings.Builder) {
	fmt.Fprintf(b, "  install %s from channel %s of %s", c.Bundle.Name, c.Channel, c.Catalog)
	if c.Replaces != "" {
		fmt.Fprintf(b, " replacing %s", c.Replaces)
	}
	if len(c.Subscriptions) > 0 {
		fmt.Fprintf(b, " for %s", strings.Join(c.Subscriptions, ", "))
	} else {
		b.WriteString(" as a dependency")
	}
	fmt.Fprintf(b, "\n    %s\n", c.Because.Need)
	for _, deprecation := range c.Deprecations {
		fmt.Fprintf(b, "    %s\n", oneLine(deprecation))
	}
	if c.Because.Rule != "" {
		fmt.Fprintf(b, "    %s", c.Because.Rule)
		if c.Because.Over != "" {
			fmt.Fprintf(b, ": before %s", c.Because.Over)
		}
		b.WriteString("\n")
	}
}

func (h *Held) write(b *strings.Builder) {
	fmt.Fprintf(b, "  held back for %s", h.Asker)
	if h.Wanted != "" {
		fmt.Fprintf(b, ": %s", h.Wanted)
	}
	if h.Instead != "" {
		fmt.Fprintf(b, ", in its place %s", h.Instead)
	}
	text := oneLine(h.Reason)
	if h.Conflict != nil {
		text = h.Conflict.Error()
	}
	fmt.Fprintf(b, "\n    %s\n", indented(text, "    "))
}

func indented(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }
