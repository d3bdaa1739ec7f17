package preview

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// maxEntries is how many groups of entries of a channel are printed when no version was asked for.
const maxEntries = 8

// VerdictGroup are entries next to each other of which the same is said: from the first down to the last.
type VerdictGroup struct {
	*Verdict
	Last *Verdict
	// Many is how many entries it has.
	Many int
}

// Groups are the verdicts, those of which the same is said together.
func (w *WhyNot) Groups() (all []VerdictGroup) {
	for i := 0; i < len(w.Verdicts); {
		v, last := &w.Verdicts[i], i
		for ; last+1 < len(w.Verdicts); last++ {
			if o := &w.Verdicts[last+1]; o.Place() != v.Place() || o.Chosen != v.Chosen || o.Installed != v.Installed || o.Advice != v.Advice || !slices.Equal(o.Reasons, v.Reasons) {
				break // the same is said of those before
			}
		}
		all = append(all, VerdictGroup{v, &w.Verdicts[last], last - i + 1})
		i = last + 1
	}
	return all
}

// Write prints the reasons for people. Entries next to each other with the same reasons are told of once.
func (w *WhyNot) Write(out io.Writer) error {
	var b page
	place, next, shown, left := "", "", 0, 0
	more := func() {
		if left > 0 {
			b.printf("  and %d more; ask for one by its name or version", left)
			if line := w.again("why-not", w.Package+"@"+next); line != "" {
				b.WriteString(": " + line)
			}
			b.WriteString("\n")
		}
		shown, left = 0, 0
	}
	for _, g := range w.Groups() {
		if at := g.Place(); at != place {
			more()
			place = at
			b.printf("package %s, %s\n", g.Package, place)
		}
		if shown++; shown > maxEntries {
			if left == 0 {
				next = g.Name
			}
			left += g.Many
		} else {
			w.tell(&b, g.Verdict, g.Last.Name)
		}
	}
	more()
	_, err := io.WriteString(out, b.String())
	return err
}

// Place is where an entry is, and whom it is told of.
func (v *Verdict) Place() string {
	at := "channel " + cmp.Or(strings.Join(v.Channels, ","), v.Channel) + " of catalog " + v.Catalog
	if v.Extension != "" {
		at += ", for ClusterExtension " + v.Extension
	}
	return at
}

// tell prints one verdict, that of all entries from its own to the last one.
func (w *WhyNot) tell(b *page, v *Verdict, last string) {
	name := v.Name
	if last != name {
		name += " down to " + last
	}
	state := "not chosen"
	switch {
	case v.Chosen:
		state = "would be installed"
	case v.Installed:
		state = "installed"
	}
	b.printf("  %s: %s\n", name, state)
	if v.Conflict == nil || w.Version == "" {
		for _, reason := range v.Reasons {
			b.put(indented(indented(messages.Clean(reason))))
		}
	} else {
		b.put(indented(indented(v.Conflict.Error())))
	}
	// The text of a conflict ends with its advice.
	if v.Advice != "" && (v.Conflict == nil || w.Version == "") {
		b.put(indented(indented(messages.Clean(v.Advice))))
	}
}
