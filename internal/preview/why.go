package preview

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/plan"
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
	// Install is what is known of an operator that is to be installed.
	*plan.Install
	// ReplacedBy is what would take the place of an installed operator.
	ReplacedBy string `json:"replacedBy,omitempty"`
	// Advice says what to ask about an operator that is absent.
	Advice string `json:"advice,omitempty"`
	// Because is what asks for it, then what asks for that, and so on.
	Because []plan.Because `json:"because"`
	// Held is what was wanted more.
	Held []plan.Held `json:"held,omitempty"`
	// Conflict is why there is no answer for the Subscription that it stands for.
	Conflict *plan.Conflict `json:"conflict,omitempty"`
}

// Why tells why an operator, named by its ClusterServiceVersion, its package or its Subscription, is or would be installed.
func (p *Preview) Why(name string) Why {
	w := Why{Operator: p.operatorOf(name), State: StateAbsent}
	if p.observed.Operator(w.Operator) != nil {
		w.State = StateInstalled
	}
	for i := range p.result.Groups {
		p.look(&p.result.Groups[i], &w)
	}
	w.Because = p.result.Why(w.Operator)
	switch {
	case w.State == StateReplaced:
		w.Because = p.result.Why(w.ReplacedBy)
	case w.Conflict != nil:
		w.Because = []plan.Because{{Need: "clusterserviceversion " + w.Operator + " is there"}}
	case w.State == StateAbsent:
		w.Because = []plan.Because{}
		w.Advice = "to see the reasons: fairlead why-not " + p.packageOf(name)
	}
	return w
}

// look fills in what the decision of a group says of an operator.
func (p *Preview) look(g *plan.Group, w *Why) {
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
	var conflict *plan.Conflict
	if errors.As(g.Err, &conflict) && p.standsFor(g, w.Operator) {
		w.Conflict = conflict
	}
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

// standsFor tells whether a Subscription of a group has an operator installed.
func (p *Preview) standsFor(g *plan.Group, operator string) bool {
	return slices.ContainsFunc(g.Subscriptions, func(name string) bool { return g.Installed[name] == operator })
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

// Write prints the reasons for people.
func (w *Why) Write(out io.Writer) error {
	var b strings.Builder
	switch w.State {
	case StateChosen:
		fmt.Fprintf(&b, "%s would be installed", w.Operator)
		if w.Replaces != "" {
			fmt.Fprintf(&b, " in place of %s", w.Replaces)
		}
		fmt.Fprintf(&b, ", from channel %s of catalog %s\n", w.Channel, w.Catalog)
	case StateReplaced:
		fmt.Fprintf(&b, "%s is installed, and %s would take its place\n", w.Operator, w.ReplacedBy)
	case StateInstalled:
		fmt.Fprintf(&b, "%s is installed, and stays\n", w.Operator)
	default:
		fmt.Fprintf(&b, "%s is not installed, and would not be\n%s", w.Operator, indented(w.Advice))
	}
	for _, because := range w.Because {
		fmt.Fprintf(&b, "  because    %s\n", tidy(because.Need))
	}
	if len(w.Because) > 0 && w.Because[0].Rule != "" {
		if over := w.Because[0].Over; over != "" {
			fmt.Fprintf(&b, "  preferred  over %s: %s\n", over, w.Because[0].Rule)
		} else {
			fmt.Fprintf(&b, "  rule       %s\n", w.Because[0].Rule)
		}
	}
	writeHeld(&b, w.Held)
	if w.Conflict != nil {
		fmt.Fprintf(&b, "\nthere is no answer for its Subscription:\n%s", indented(w.Conflict.Error()))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
