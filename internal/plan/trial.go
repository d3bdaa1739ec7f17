package plan

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// What is tried out to find advice that works, for each part of the namespace.
const (
	maxTrials     = 6
	maxTrialSteps = 200_000
)

// try decides again with something changed, on the Subscription and those that it clashed with. It returns its group, nil when there is
// no answer for it, and what the Subscription would get that it does not have; nil for nothing.
func (b *builder) try(name string, change func(*Input), clashing ...string) (*Group, *Choice) {
	if b.trials == 0 {
		return nil, nil
	}
	b.trials--
	in := b.in
	in.trial = true
	in.Subscriptions = slices.DeleteFunc(slices.Clone(in.Subscriptions), func(s Subscription) bool {
		return s.Name != name && !slices.Contains(clashing, s.Name)
	})
	in.Operators = slices.Clone(in.Operators)
	change(&in)
	result, err := Namespace(context.Background(), in)
	if err != nil {
		return nil, nil
	}
	for i := range result.Groups {
		if result.Groups[i].Err != nil {
			return nil, nil // one that clashed goes without now
		}
	}
	for i := range result.Groups {
		g := &result.Groups[i]
		if !slices.Contains(g.Subscriptions, name) {
			continue
		}
		for j := range g.Choices {
			if slices.Contains(g.Choices[j].Subscriptions, name) {
				return g, &g.Choices[j]
			}
		}
		return g, nil
	}
	return nil, nil
}

// otherChannels names the channels of its package that a Subscription could follow instead: those that are promising and, when tried,
// keep what they promise.
func (b *builder) otherChannels(r *request, promising func(*catalog.ChannelInfo) bool, kept func(*Group, *Choice) bool, clashing ...string) []string {
	const named = 2
	if r.source == nil || r.source.Index == nil {
		return nil
	}
	p, ok := r.source.Index.Package(r.sub.Package)
	if !ok {
		return nil
	}
	var ways []string
	for _, c := range p.Channels {
		if slices.Contains(r.channels, c) || len(ways) == named || !promising(c) {
			continue
		}
		g, chosen := b.try(r.sub.Name, func(in *Input) {
			for i := range in.Subscriptions {
				if in.Subscriptions[i].Name == r.sub.Name {
					in.Subscriptions[i].Channel = c.Name
				}
			}
		}, clashing...)
		if g == nil || !kept(g, chosen) {
			continue
		}
		way := fmt.Sprintf("let Subscription %s follow channel %s", r.sub.Name, c.Name)
		if chosen != nil {
			way += ", which has " + chosen.Bundle.Name
		}
		ways = append(ways, way)
	}
	return ways
}
