package preview

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/plan"
)

// Outdated compares what every Subscription has with what there is.
type Outdated struct {
	Namespace     string     `json:"namespace"`
	Subscriptions []Standing `json:"subscriptions"`
	// Unmanaged are the operators that no Subscription keeps up to date.
	Unmanaged []string    `json:"unmanaged,omitempty"`
	LeftAlone []LeftAlone `json:"leftAlone,omitempty"`
}

// Standing is how a Subscription stands, and what to do to come further.
type Standing struct {
	plan.Standing
	Advice string `json:"advice,omitempty"`
}

// Outdated is how the Subscriptions of the namespace stand.
func (p *Preview) Outdated() Outdated {
	out := Outdated{Namespace: p.observed.Name, Subscriptions: []Standing{}, LeftAlone: p.leftAlone()}
	managed := map[string]bool{}
	for _, s := range p.result.Standings() {
		managed[s.Installed] = true
		out.Subscriptions = append(out.Subscriptions, Standing{s, p.advice(s)})
	}
	for _, o := range p.input.Operators {
		replaced := slices.ContainsFunc(p.input.Operators, func(newer plan.Operator) bool { return newer.Replaces == o.Name })
		if !managed[o.Name] && !replaced {
			out.Unmanaged = append(out.Unmanaged, o.Name)
		}
	}
	return out
}

// advice says what to do to have something newer than the next version.
func (p *Preview) advice(s plan.Standing) string {
	for _, g := range p.result.Groups {
		if !slices.Contains(g.Subscriptions, s.Subscription) {
			continue
		}
		var conflict *plan.Conflict
		if errors.As(g.Err, &conflict) {
			return conflict.Advice
		}
		for _, h := range g.Held {
			if h.Subscription == s.Subscription && h.Conflict != nil {
				return h.Conflict.Advice
			}
		}
	}
	if s.HeldBy == "" && s.Newest != "" && s.Newest != s.Allowed && s.Newest != s.Next && s.Newest != s.Installed {
		return fmt.Sprintf("%s is not where its Subscription leads to; to see why: fairlead why-not %s@%s", s.Newest, s.Package, s.Newest)
	}
	return ""
}

// behind tells whether there is anything newer, or anything to install.
func (s *Standing) behind() bool {
	return s.Next != "" || s.HeldBy != "" || s.Newest != "" && s.Newest != s.Installed
}

// Write prints the comparison for people.
func (o *Outdated) Write(w io.Writer) error {
	var b strings.Builder
	behind := 0
	rows := [][]string{{"SUBSCRIPTION", "INSTALLED", "NEXT", "ALLOWED", "CHANNEL HEAD", "NEWEST", "IN"}}
	for _, s := range o.Subscriptions {
		rows = append(rows, []string{s.Subscription, s.Installed, s.Next, s.Allowed, s.Head, s.Newest, s.NewestIn})
		if s.behind() {
			behind++
		}
	}
	fmt.Fprintf(&b, "namespace %s: ", o.Namespace)
	switch {
	case len(o.Subscriptions) == 0:
		b.WriteString("no Subscription, nothing to compare\n")
	case behind == 0:
		b.WriteString("everything is the newest there is\n")
	default:
		fmt.Fprintf(&b, "%d of %d Subscriptions not at the newest there is\n", behind, len(o.Subscriptions))
	}
	if len(o.Subscriptions) > 0 {
		b.WriteString("\n" + table(rows))
	}
	for _, s := range o.Subscriptions {
		s.explain(&b)
	}
	writeLeftAlone(&b, o.LeftAlone)
	for _, name := range o.Unmanaged {
		fmt.Fprintf(&b, "\n%s has no Subscription: nothing upgrades it; create a Subscription to its package\n", name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// explain tells what holds a Subscription back, and what to do.
func (s *Standing) explain(b *strings.Builder) {
	switch {
	case s.HeldBy != "":
		fmt.Fprintf(b, "\n%s is held by:\n%s", s.Subscription, indented(tidy(s.HeldBy)))
	case s.Advice != "":
		fmt.Fprintf(b, "\n%s:\n", s.Subscription)
	}
	if s.Advice != "" {
		b.WriteString(indented(tidy(s.Advice)))
	}
}
