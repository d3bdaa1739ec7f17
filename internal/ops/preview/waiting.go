package preview

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/internal/resolution"
)

// standings are how the Subscriptions stand, each with what keeps it from something newer.
func (p *Preview) standings() []resolution.SubscriptionStanding {
	all := p.result.Standings()
	for i := range all {
		if s := &all[i]; s.HeldBy == "" {
			s.HeldBy = p.waits(s)
		}
	}
	return all
}

// waits says why an operator stays although its channels have something newer; empty when the decision says that, or when it does not stay.
func (p *Preview) waits(s *resolution.SubscriptionStanding) string {
	there := slices.ContainsFunc(p.input.Operators, func(o resolution.Operator) bool { return o.Name == s.Installed })
	if there && s.Next == "" && s.Allowed == s.Installed && s.Head != "" && s.Head != s.Installed && s.Newest != s.Installed {
		return fmt.Sprintf("no upgrade edge leads from the installed %s to anything newer; the head of the channel that comes first is %s%s",
			s.Installed, s.Head, p.toSee("; to see why it is not reached", "why-not", s.Package+"@"+s.Head))
	}
	return ""
}

// waiting are the Subscriptions of which the decision does not say why they stay.
func (p *Preview) waiting() []resolution.Held {
	var all []resolution.Held
	for _, s := range p.result.Standings() {
		if s.HeldBy != "" {
			continue
		}
		if reason := p.waits(&s); reason != "" {
			all = append(all, resolution.Held{Asker: "subscription " + s.Subscription, Subscription: s.Subscription, Instead: s.Installed, Reason: reason})
		}
	}
	return all
}
