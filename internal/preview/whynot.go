package preview

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/plan"
)

// WhyNot is why the entries of a package, or those of one version, are not chosen.
type WhyNot struct {
	Package  string    `json:"package"`
	Version  string    `json:"version,omitempty"`
	Verdicts []Verdict `json:"verdicts"`
}

// Verdict is why one entry is not chosen, and what to change to have it.
type Verdict struct {
	plan.Verdict
	Advice string `json:"advice,omitempty"`
}

// WhyNot tells of each entry of a package in view, or of those with a version or name, which rules decided about it.
func (p *Preview) WhyNot(ctx context.Context, pkg, version string) (WhyNot, error) {
	w := WhyNot{Package: pkg, Version: version, Verdicts: []Verdict{}}
	verdicts, err := p.result.WhyNot(ctx, pkg, version)
	if err == nil && len(verdicts) == 0 {
		err = p.unknown(ctx, pkg, version)
	}
	for _, v := range verdicts {
		w.Verdicts = append(w.Verdicts, Verdict{v, p.wayTo(v, version)})
	}
	return w, err
}

// wayTo says what to change to have an entry; empty when its reasons say all there is to say.
func (p *Preview) wayTo(v plan.Verdict, version string) string {
	switch {
	case v.Chosen || v.Installed:
		return ""
	case v.Conflict != nil:
		return v.Conflict.Advice
	}
	for _, s := range p.input.Subscriptions {
		switch {
		case s.Package != v.Package:
		case s.Catalog.String() != v.Catalog:
			return fmt.Sprintf("to follow catalog %s, set spec.source and spec.sourceNamespace of Subscription %s", v.Catalog, s.Name)
		case s.Channel != "" && s.Channel != v.Channel:
			return fmt.Sprintf("to follow channel %s, set spec.channel of Subscription %s", v.Channel, s.Name)
		default:
			return ""
		}
	}
	if version != "" {
		version = "@" + v.Name
	}
	return fmt.Sprintf("to see what a Subscription would do: fairlead resolve, with --subscribe %s:%s%s%%%s", v.Package, v.Channel, version, v.Catalog)
}

// unknown says why there is nothing to tell of.
func (p *Preview) unknown(ctx context.Context, pkg, version string) error {
	var names, dead []string
	for _, s := range p.observed.Sources {
		if !s.Healthy() {
			dead = append(dead, s.Ref().String())
		}
		names = append(names, s.Ref().String())
	}
	where := "there is no catalog in view of namespace " + p.observed.Name
	if len(names) > 0 {
		where = "in view of namespace " + p.observed.Name + ": " + strings.Join(names, ", ")
	}
	if len(dead) > 0 {
		where += "; cannot be read: " + strings.Join(dead, ", ")
	}
	all, err := p.result.WhyNot(ctx, pkg, "")
	switch {
	case err != nil:
		return err
	case len(all) > 0:
		return fmt.Errorf("tell why not %s@%s: no catalog has that version of the package; to see those there are: fairlead why-not %s", pkg, version, pkg)
	}
	return fmt.Errorf("tell why not %s: no catalog has a package of that name; correct it, or add its catalog (%s)", pkg, where)
}

// maxEntries is how many groups of entries of a channel are printed when no version was asked for.
const maxEntries = 8

// Write prints the reasons for people. Entries next to each other with the same reasons are told of once.
func (w *WhyNot) Write(out io.Writer) error {
	var b strings.Builder
	place, shown, left := "", 0, 0
	more := func() {
		if left > 0 {
			fmt.Fprintf(&b, "  and %d more; ask for one with: fairlead why-not %s@VERSION\n", left, w.Package)
		}
		shown, left = 0, 0
	}
	for i := 0; i < len(w.Verdicts); {
		v := &w.Verdicts[i]
		if at := "channel " + v.Channel + " of catalog " + v.Catalog; at != place {
			more()
			place = at
			fmt.Fprintf(&b, "package %s, %s\n", v.Package, place)
		}
		last := i
		for last+1 < len(w.Verdicts) && alike(v, &w.Verdicts[last+1]) {
			last++
		}
		if shown++; shown > maxEntries {
			left += last - i + 1
		} else {
			w.tell(&b, v, w.Verdicts[last].Name)
		}
		i = last + 1
	}
	more()
	_, err := io.WriteString(out, b.String())
	return err
}

// alike tells whether what is said of two verdicts is the same.
func alike(a, b *Verdict) bool {
	return a.Channel == b.Channel && a.Catalog == b.Catalog && a.Chosen == b.Chosen && a.Installed == b.Installed && a.Advice == b.Advice && slices.Equal(a.Reasons, b.Reasons)
}

// tell prints one verdict, that of all entries from its own to the last one.
func (w *WhyNot) tell(b *strings.Builder, v *Verdict, last string) {
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
	fmt.Fprintf(b, "  %s: %s\n", name, state)
	if v.Conflict == nil || w.Version == "" {
		for _, reason := range v.Reasons {
			b.WriteString(indented(indented(tidy(reason))))
		}
	} else {
		b.WriteString(indented(indented(v.Conflict.Error())))
	}
	// The text of a conflict ends with its advice.
	if v.Advice != "" && (v.Conflict == nil || w.Version == "") {
		b.WriteString(indented(indented(tidy(v.Advice))))
	}
}
