package preview

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
)

// The states of an operator.
const (
	StateInstalled = "installed"
	StateChosen    = "to be installed"
	StateReplaced  = "to be replaced"
	StateAbsent    = "absent"
)

// Why is why an operator is, or would be, in the namespace.
type Why struct {
	Operator string `json:"operator"`
	State    string `json:"state"`
	// Extension is the ClusterExtension that it is, or would be, installed for.
	Extension string `json:"extension,omitempty"`
	// Headline says in one line why there is no answer for what asks for it, or why it would not run; empty when there is one and it would.
	Headline string `json:"headline,omitempty"`
	// Remedies are commands that change that, as far as there are such.
	Remedies []string `json:"remedies,omitempty"`
	// Install is what is known of an operator that is to be installed.
	*resolution.Install
	// ReplacedBy is what would take the place of an installed operator.
	ReplacedBy string `json:"replacedBy,omitempty"`
	// Advice says what to ask about an operator that is absent.
	Advice string `json:"advice,omitempty"`
	// Because is what asks for it, then what asks for that, and so on.
	Because []resolution.Because `json:"because"`
	// Held is what was wanted more.
	Held []resolution.Held `json:"held,omitempty"`
	// Misfit is why it would not be installed although it is chosen.
	Misfit *Misfit `json:"misfit,omitempty"`
	// Conflict is why there is no answer for the Subscription that it stands for.
	Conflict *resolution.Conflict `json:"conflict,omitempty"`

	told string // Conflict for people, where it is one of a ClusterExtension
}

// Why tells why an operator, named by its ClusterServiceVersion, its package or its Subscription, is or would be installed.
func (p *Preview) Why(name string) Why {
	if w := p.writtenWhy(name); w != nil {
		return *w
	}
	w := Why{Operator: p.operatorOf(name), State: StateAbsent}
	if p.observed.Operator(w.Operator) != nil {
		w.State = StateInstalled
	}
	for _, g := range p.result.Groups {
		for _, c := range g.Choices {
			switch install := c.Install(); w.Operator {
			case c.Bundle.Name:
				w.State, w.Install = StateChosen, &install
			case c.Replaces:
				w.State, w.ReplacedBy = StateReplaced, c.Bundle.Name
			}
		}
		for _, h := range g.Held {
			if h.Instead == w.Operator {
				w.Held = append(w.Held, h)
			}
		}
		var conflict *resolution.Conflict
		if errors.As(g.Err, &conflict) && slices.ContainsFunc(g.Subscriptions, func(name string) bool { return g.Installed[name] == w.Operator }) {
			w.Conflict = conflict
		}
	}
	w.Because = p.result.Why(w.Operator)
	for _, m := range p.fit.misfits(p.result.Groups) {
		if m.Operator == cmp.Or(w.ReplacedBy, w.Operator) {
			w.Misfit = &m
			break
		}
	}
	if w.State == StateAbsent {
		if e := p.whyExtension(name); e != nil {
			return *e
		}
		w.Conflict = p.conflictOf(name)
	}
	switch {
	case w.State == StateReplaced:
		w.Because = p.result.Why(w.ReplacedBy)
	case w.State == StateAbsent:
		w.Because = []resolution.Because{}
		w.Advice = p.whereToAsk(name)
	case w.Conflict != nil:
		w.Because = []resolution.Because{{Need: "clusterserviceversion " + w.Operator + " is there"}}
	}
	if w.Conflict != nil {
		w.Headline = cmp.Or(w.Conflict.Headline, w.Conflict.Summary)
	}
	if w.Misfit != nil && w.Headline == "" {
		w.Headline = fmt.Sprintf("%s would not run: %s", w.Misfit.Operator, w.Misfit.Reason)
	}
	w.Remedies = p.remedies(name)
	return w
}

// conflictOf is why there is no answer for the Subscription of a name, or for a package; nil when there is one, or no Subscription.
func (p *Preview) conflictOf(name string) *resolution.Conflict {
	pkg := p.packageOf(name)
	for _, g := range p.result.Groups {
		var conflict *resolution.Conflict
		asks := func(sub resolution.Subscription) bool {
			return slices.Contains(g.Subscriptions, sub.Name) && (sub.Name == name || sub.Package == pkg)
		}
		if errors.As(g.Err, &conflict) && slices.ContainsFunc(p.input.Subscriptions, asks) {
			return conflict
		}
	}
	return nil
}

// whereToAsk says how to see why something is absent.
func (p *Preview) whereToAsk(name string) string {
	pkg := p.packageOf(name)
	known := func(s snapshot.Source) bool {
		if !s.Healthy() {
			return false
		}
		_, ok := s.Served.Index.Package(pkg)
		return ok
	}
	if slices.ContainsFunc(p.observed.Sources, known) {
		return p.again.toSee("to see the reasons", "why-not", pkg)
	}
	return fmt.Sprintf("no catalog has a package or bundle %s, and no Subscription is called so: correct the name, or add the catalog (%s)%s", pkg, p.whereLooked(), messages.DidYouMean(pkg, names(p)))
}

// packageOf is the package that a name means, as far as the catalogs in view tell.
func (p *Preview) packageOf(name string) string {
	for _, sub := range p.input.Subscriptions {
		if sub.Name == name {
			return sub.Package
		}
	}
	for _, s := range p.observed.Sources {
		if b := bundleIn(s, name); b != nil {
			return b.Package
		}
	}
	return name
}

// operatorOf is the operator that a name means: that of a ClusterServiceVersion, or what a package or Subscription has or gets.
func (p *Preview) operatorOf(name string) string {
	if p.observed.Operator(name) != nil {
		return name
	}
	found := name
	for _, o := range p.input.Operators {
		if o.Package == name {
			found = o.Name
		}
	}
	for _, g := range p.result.Groups {
		if installed := g.Installed[name]; installed != "" {
			found = installed
		}
	}
	for _, g := range p.result.Groups {
		for _, c := range g.Choices {
			if c.Bundle.Package == name || slices.Contains(c.Subscriptions, name) {
				found = c.Bundle.Name
			}
		}
	}
	return found
}

// Write prints the reasons for people: a headline for what has no answer, the chain of reasons, and what to type.
func (w *Why) Write(out io.Writer) error {
	var b page
	if w.Headline != "" {
		b.printf("✗ %s\n\n", w.Headline)
	}
	switch w.State {
	case StateChosen:
		b.printf("%s would be installed", w.Operator)
		if w.Replaces != "" {
			b.printf(" in place of %s", w.Replaces)
		}
		b.printf(", from channel %s of catalog %s\n", cmp.Or(strings.Join(w.Channels, ","), w.Channel), w.Catalog)
	case StateReplaced:
		b.printf("%s is installed, and %s would take its place\n", w.Operator, w.ReplacedBy)
	case StateInstalled:
		b.printf("%s is installed, and stays\n", w.Operator)
	default:
		b.printf("%s is not installed, and would not be\n%s", w.Operator, indented(messages.Clean(w.Advice)))
	}
	for _, because := range w.Because {
		b.printf("  because    %s\n", messages.Clean(because.Need))
	}
	if len(w.Because) > 0 && w.Because[0].Rule != "" {
		if over := w.Because[0].Over; over != "" {
			b.printf("  preferred  over %s: %s\n", over, w.Because[0].Rule)
		} else {
			b.printf("  rule       %s\n", w.Because[0].Rule)
		}
	}
	if w.Misfit != nil {
		writeMisfits(&b, []Misfit{*w.Misfit})
	}
	writeHeld(&b, w.Held)
	if w.Conflict != nil {
		asker := "Subscription"
		if w.Extension != "" {
			asker = "ClusterExtension"
		}
		chain := *w.Conflict
		chain.Headline = "" // it is printed
		b.printf("\nthere is no answer for its %s:\n%s", asker, indented(cmp.Or(w.told, chain.Error())))
	}
	if len(w.Remedies) > 0 {
		b.printf("\nto change that:\n")
		b.put(indented(strings.Join(w.Remedies, "\n")))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
