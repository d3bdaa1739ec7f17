package resolution

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// What is tried out to find advice that works: for each part of the namespace, for the whole of it, and how much work a part of a trial may
// be.
const (
	maxTrials     = 6
	maxWhole      = 400 // Subscriptions that are decided on again
	maxTrialSteps = 200_000
)

// try decides again with something changed. It returns the group of the Subscription, nil when there would be no answer for it or for one
// that it clashed with, and what it would get that it does not have; nil for nothing. What works for these alone is tried on the whole
// namespace.
func (b *namespaceFront) try(ctx context.Context, name string, change func(*NamespaceRequest), clashing ...string) (*Group, *Choice) {
	if !b.mayTry(ctx) {
		return nil, nil
	}
	of := append([]string{name}, slices.DeleteFunc(slices.Clone(clashing), func(s string) bool { return s == name })...)
	in := b.in
	in.Operators = slices.Clone(in.Operators)
	in.Subscriptions = slices.DeleteFunc(slices.Clone(in.Subscriptions), func(s Subscription) bool { return !slices.Contains(of, s.Name) })
	change(&in)
	g, chosen := tried(ctx, in, of)
	if g == nil || len(b.in.Subscriptions) == len(of) {
		return g, chosen
	}
	if b.whole < len(b.in.Subscriptions) {
		return nil, nil
	}
	b.whole -= len(b.in.Subscriptions)
	in.Operators, in.Subscriptions = slices.Clone(b.in.Operators), slices.Clone(b.in.Subscriptions)
	change(&in)
	return tried(ctx, in, of)
}

// tried is the group of the first Subscription, and what it gets; nil when one of them goes without.
func tried(ctx context.Context, in NamespaceRequest, of []string) (*Group, *Choice) {
	result, err := decideNamespace(ctx, in, true)
	if err != nil {
		return nil, nil
	}
	var found *Group
	for i := range result.Groups {
		g := &result.Groups[i]
		if g.Err != nil && slices.ContainsFunc(of, func(name string) bool { return slices.Contains(g.Subscriptions, name) }) {
			return nil, nil
		}
		if slices.Contains(g.Subscriptions, of[0]) {
			found = g
		}
	}
	if found == nil {
		return nil, nil
	}
	for j := range found.Choices {
		if slices.Contains(found.Choices[j].Subscriptions, of[0]) {
			return found, &found.Choices[j]
		}
	}
	return found, nil
}

// otherChannels names the channels of its package that a Subscription could follow instead: those that are promising and, when tried,
// keep what they promise.
func (b *namespaceFront) otherChannels(ctx context.Context, r *request, promising func(*catalog.ChannelInfo) bool, kept func(*Group, *Choice) bool, clashing ...string) []string {
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
		g, chosen := b.try(ctx, r.sub.Name, func(in *NamespaceRequest) {
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
