package diff

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
)

// marks are the signs before what was added, removed and changed.
var marks = map[Op]string{Added: "+", Removed: "-", Changed: "~"}

// Write writes the report for people: a block for each package, and a summary.
func (r *Report) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, p := range r.Packages {
		fmt.Fprintf(out, "%s package %s\n", marks[p.Op], safetext.OneLine(p.Name))
		for _, c := range p.Changes {
			if c.Kind != KindPackage { // this is the heading
				fmt.Fprintf(out, "    %s %s\n", marks[c.Op], c.what())
			}
			c.writeFields(out)
		}
		for _, c := range p.Consequences {
			fmt.Fprintf(out, "    %s\n", c)
		}
	}
	if len(r.Objects) > 0 {
		fmt.Fprintln(out, "~ of no package")
		for _, c := range r.Objects {
			fmt.Fprintf(out, "    %s %s\n", marks[c.Op], c.what())
			c.writeFields(out)
		}
	}
	if r.Empty() {
		fmt.Fprintln(out, "no difference")
		return out.Flush()
	}
	count := map[Op]int{}
	changes := len(r.Objects)
	for _, p := range r.Packages {
		count[p.Op]++
		changes += len(p.Changes)
	}
	fmt.Fprintf(out, "%s added, %d removed, %d changed; %s, %d breaking\n",
		safetext.Count(count[Added], "package"), count[Removed], count[Changed], safetext.Count(changes, "change"), r.Breaking())
	return out.Flush()
}

// writeFields writes the fields below the thing they belong to.
func (c Change) writeFields(out io.Writer) {
	indent := "        "
	if c.Kind == KindPackage {
		indent = "    "
	}
	for _, f := range c.Fields {
		switch {
		case f.From == "":
			fmt.Fprintf(out, "%s+ %s: %s\n", indent, safetext.OneLine(f.Name), safetext.OneLine(f.To))
		case f.To == "":
			fmt.Fprintf(out, "%s- %s: %s\n", indent, safetext.OneLine(f.Name), safetext.OneLine(f.From))
		default:
			fmt.Fprintf(out, "%s~ %s: %s -> %s\n", indent, safetext.OneLine(f.Name), safetext.OneLine(f.From), safetext.OneLine(f.To))
		}
	}
}

// what names the thing that changed.
func (c Change) what() string {
	name := safetext.OneLine(c.Name)
	switch c.Kind {
	case KindEdge:
		return fmt.Sprintf("edge from %s to %s in channel %s (%s)", safetext.OneLine(c.From), name, safetext.OneLine(c.Channel), c.By)
	case KindEntry:
		return fmt.Sprintf("entry %s in channel %s", name, safetext.OneLine(c.Channel))
	case KindDeprecation:
		return "deprecation of " + name
	}
	return string(c.Kind) + " " + name
}

// String is the consequence in one line.
func (c Consequence) String() string {
	var where []string
	if c.Channel != "" {
		where = append(where, "channel "+c.Channel)
	}
	if c.Bundle != "" {
		where = append(where, "bundle "+c.Bundle)
	}
	text := "note"
	if c.Breaking {
		text = "BREAKING"
	}
	if len(where) > 0 {
		text += ", " + safetext.OneLine(strings.Join(where, ", "))
	}
	return text + ": " + safetext.OneLine(c.Message)
}
