package preview

import (
	"context"
	"errors"
	"slices"

	"fairlead.dev/fairlead/internal/resolution"
)

// Outdated compares what every Subscription has with what there is.
type Outdated struct {
	Namespace     string     `json:"namespace"`
	Subscriptions []Standing `json:"subscriptions"`
	// Extensions are how the ClusterExtensions stand.
	Extensions []ExtensionStanding `json:"extensions,omitempty"`
	// Unmanaged are the operators that no Subscription keeps up to date.
	Unmanaged []string    `json:"unmanaged,omitempty"`
	LeftAlone []LeftAlone `json:"leftAlone,omitempty"`

	askers map[string]string // of the packages of unmanaged operators, by operator: Subscriptions that do not take them over
}

// Standing is how a Subscription stands, and what to do to come further.
type Standing struct {
	resolution.SubscriptionStanding
	Advice string `json:"advice,omitempty"`

	holders  []string
	conflict *resolution.Conflict // that holds it, if that can be told in full
}

// Outdated is how the Subscriptions of the namespace stand, and the ClusterExtensions.
func (p *Preview) Outdated(ctx context.Context) (Outdated, error) {
	out := Outdated{Namespace: p.observed.Name, Subscriptions: []Standing{}, LeftAlone: p.leftAlone(), askers: map[string]string{}}
	managed := map[string]bool{}
	for _, s := range p.standings() {
		managed[s.Installed] = true
		conflict := p.holding(s.Subscription)
		out.Subscriptions = append(out.Subscriptions, Standing{s, p.advice(s, conflict), holders(conflict, "Subscription "+s.Subscription), conflict})
	}
	for _, o := range p.input.Operators {
		replaced := slices.ContainsFunc(p.input.Operators, func(newer resolution.Operator) bool { return newer.Replaces == o.Name })
		if !managed[o.Name] && !replaced {
			out.Unmanaged = append(out.Unmanaged, o.Name)
			if o.Package != "" {
				out.askers[o.Name] = p.askerOf(o.Package)
			}
		}
	}
	for _, e := range p.extensions {
		s, err := p.standing(ctx, e)
		if err != nil {
			return out, err
		}
		out.Extensions = append(out.Extensions, s)
	}
	return out, nil
}

// holding is what keeps a Subscription from something newer, if that can be told in full.
func (p *Preview) holding(subscription string) *resolution.Conflict {
	for _, g := range p.result.Groups {
		if !slices.Contains(g.Subscriptions, subscription) {
			continue
		}
		var conflict *resolution.Conflict
		if errors.As(g.Err, &conflict) {
			return conflict
		}
		for _, h := range g.Held {
			if h.Subscription == subscription && h.Conflict != nil {
				return h.Conflict
			}
		}
	}
	return nil
}

// advice says what to do to have something newer than the next version.
func (p *Preview) advice(s resolution.SubscriptionStanding, conflict *resolution.Conflict) string {
	if conflict != nil {
		return conflict.Advice
	}
	return p.aside(s.Standing, "Subscription")
}

// aside says how to find out about a newest version that nothing leads to; nothing when there is none.
func (p *Preview) aside(s resolution.Standing, kind string) string {
	if !s.Aside() {
		return ""
	}
	return s.Newest + " is not where its " + kind + " leads to" + p.toSee("; to see why", "why-not", s.Package+"@"+s.Newest)
}
