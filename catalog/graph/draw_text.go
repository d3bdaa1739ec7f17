package graph

import (
	"bufio"
	"fmt"
	"strings"
)

func (c ChannelPicture) text(w *bufio.Writer, v0 bool) {
	title := "channel " + show(c.Name)
	if c.Deprecated {
		title += ", deprecated"
	}
	fmt.Fprintf(w, "\n  %s\n", title)
	if c.Refused != "" {
		fmt.Fprintf(w, "  v0 leaves it out: %s\n", c.Refused)
	}
	listed := map[string]bool{}
	var line, beside []EntryPicture
	for _, e := range c.Entries {
		listed[e.Name] = true
		if e.OnChain || c.Refused != "" {
			line = append(line, e)
		} else {
			beside = append(beside, e)
		}
	}
	if c.Refused == "" {
		line = chainOrder(line, c.Head)
	}
	for i, e := range line {
		bar := "│"
		next := ""
		if i+1 < len(line) {
			next = line[i+1].Name
		} else {
			bar = " "
		}
		if c.Refused != "" {
			bar, next = " ", ""
		}
		e.text(w, "●", bar, next, e.Name == c.Head, listed)
	}
	for _, e := range beside {
		e.text(w, "○", " ", "", false, listed)
		if v0 && len(e.Edges) > 0 {
			fmt.Fprintln(w, "      these edges do not count under v0")
		}
	}
}

// chainOrder puts entries in the order of their replaces, from the head down.
func chainOrder(line []EntryPicture, head string) []EntryPicture {
	byName := map[string]EntryPicture{}
	for _, e := range line {
		byName[e.Name] = e
	}
	var ordered, rest []EntryPicture
	for name := head; ; {
		e, ok := byName[name]
		if !ok {
			break
		}
		delete(byName, name)
		ordered = append(ordered, e)
		name = ""
		for _, edge := range e.Edges {
			if edge.Kind == Replaces {
				name = edge.From
			}
		}
	}
	for _, e := range line { // what a minimum edge has cut off
		if _, left := byName[e.Name]; left {
			rest = append(rest, e)
		}
	}
	return append(ordered, rest...)
}

// text draws an entry and its edges, without the one to the next line.
func (e EntryPicture) text(w *bufio.Writer, dot, bar, next string, head bool, listed map[string]bool) {
	var notes []string
	if head {
		notes = append(notes, "head")
	}
	if e.SkippedBy != "" {
		notes = append(notes, "skipped by "+show(e.SkippedBy))
	}
	if e.Deprecated {
		notes = append(notes, "deprecated")
	}
	if e.NoBundle {
		notes = append(notes, "has no bundle")
	}
	name := Stop{Name: show(e.Name), Version: e.Version}.String()
	if len(notes) > 0 {
		name += "  (" + strings.Join(notes, ", ") + ")"
	}
	fmt.Fprintf(w, "  %s %s\n", dot, name)
	ranged := 0
	for _, edge := range e.Edges {
		switch {
		case edge.Kind == SkipRange:
			ranged++
		case edge.Kind == Replaces && edge.From == next:
		default:
			outside := ""
			if !listed[edge.From] {
				outside = ", which is not in the channel"
			}
			fmt.Fprintf(w, "  %s   %s %s%s\n", bar, edge.Kind, show(edge.From), outside)
		}
	}
	if e.SkipRange != "" {
		fmt.Fprintf(w, "  %s   skipRange %s, %s here\n", bar, show(e.SkipRange), count(ranged, "version"))
	}
}
