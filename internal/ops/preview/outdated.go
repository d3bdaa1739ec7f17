package preview

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
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
	// HeldUntil is when an upgrade window ends what holds it.
	HeldUntil *time.Time `json:"heldUntil,omitempty"`
	Advice    string     `json:"advice,omitempty"`

	holders  []string
	conflict *resolution.Conflict // that holds it, if that can be told in full
}

// Outdated is how the Subscriptions of the namespace stand, and the ClusterExtensions.
func (p *Preview) Outdated(ctx context.Context) (Outdated, error) {
	out := Outdated{Namespace: p.observed.Name, Subscriptions: []Standing{}, LeftAlone: p.leftAlone(), askers: map[string]string{}}
	managed := map[string]bool{}
	// How the Subscriptions stand, each with what keeps it from something newer.
	all := p.result.Standings(time.Now())
	all = p.writtenStandings(all)
	for i := range all {
		if s := &all[i]; s.HeldBy == "" {
			s.HeldBy = p.waits(s)
		}
	}
	for _, s := range all {
		managed[s.Installed] = true
		conflict, advice := holding(p.result.Groups, s.Subscription), p.again.aside(s.Standing, "Subscription")
		if p.unseen.has(p.observed.Subscription(s.Subscription)) {
			conflict, advice = nil, "" // which are about catalogs that were not read
		}
		if conflict != nil {
			advice = conflict.Advice
		}
		standing := Standing{SubscriptionStanding: s, Advice: advice, holders: holders(conflict, "Subscription "+s.Subscription), conflict: conflict}
		p.heldByWindow(&standing)
		out.Subscriptions = append(out.Subscriptions, standing)
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
		s, err := e.standing(ctx, p.again)
		if err != nil {
			return out, err
		}
		if i := slices.IndexFunc(p.objects, func(o olmv1.ClusterExtension) bool { return o.Name == e.Extension }); i >= 0 && e.bundle != nil {
			s.heldByWindow(p.windows, &p.objects[i], e.bundle.VersionText)
		}
		out.Extensions = append(out.Extensions, s)
	}
	return out, nil
}

// holding is what keeps a Subscription from something newer, if that can be told in full.
func holding(groups []resolution.Group, subscription string) *resolution.Conflict {
	for _, g := range groups {
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

// waits says why an operator stays although its channels have something newer; empty when the decision says that, or when it does not stay.
func (p *Preview) waits(s *resolution.SubscriptionStanding) string {
	there := slices.ContainsFunc(p.input.Operators, func(o resolution.Operator) bool { return o.Name == s.Installed })
	if there && s.Next == "" && s.Allowed == s.Installed && s.Head != "" && s.Head != s.Installed && s.Newest != s.Installed {
		return fmt.Sprintf("no upgrade edge leads from the installed %s to anything newer; the head of the channel that comes first is %s%s",
			s.Installed, s.Head, p.again.toSee("; to see why it is not reached", "why-not", s.Package+"@"+s.Head))
	}
	return ""
}
