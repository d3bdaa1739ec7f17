package extension

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// maxTrials is how often is tried, for one conflict, whether advice works.
const maxTrials = 12

// try decides on a changed request, and returns the bundle that the extension would get by it; nil when it gets nothing new. What it costs
// is taken from the budget of the decision itself.
func (b *builder) try(ctx context.Context, change func(*Request)) *catalog.BundleInfo {
	if b.trials >= maxTrials || b.spent() || ctx.Err() != nil {
		return nil
	}
	b.trials++
	t := &builder{in: b.in, name: b.name, rules: b.rules, installed: map[string]resolve.Var{}, trial: true, cost: b.cost, asked: b.asked}
	change(&t.in)
	result, err := t.resolve(ctx)
	b.cost, b.asked = t.cost, t.asked
	for i, f := range t.world { // what the advice depends on belongs to the record
		b.world[i].used = b.world[i].used || f.used
	}
	if err != nil || result.Change == Stay {
		return nil
	}
	return result.Bundle
}

// otherVersion says what to do about a range that fits nothing: which version its channels lead to or, where they lead nowhere, which other
// channel does.
func (b *builder) otherVersion(ctx context.Context) string {
	correct := fmt.Sprintf("correct %s of ClusterExtension %s: ", fieldVersion, b.name)
	newest := b.newest()
	found := b.try(ctx, func(r *Request) { r.Version = "" })
	switch {
	case found == nil && b.in.Installed != nil:
		return b.otherChannel(ctx, b.force(ctx))
	case found == nil || found.VersionText == newest:
		return correct + "the newest version in its channels is " + newest
	case b.in.Installed == nil:
		return fmt.Sprintf("%sthe newest version that can be had now is %s", correct, found.VersionText)
	}
	return fmt.Sprintf("%sthe newest version that can be had now is %s, and %s in its channels is not reached from the installed %s in one step",
		correct, found.VersionText, newest, b.in.Installed.Name)
}

// otherChannel says which other channel leads on from what is installed, with the range as it is or with another one; without such a channel,
// or after it, it says what else to do.
func (b *builder) otherChannel(ctx context.Context, otherwise string) string {
	if len(b.in.Channels) == 0 {
		return otherwise
	}
	for _, version := range slices.Compact([]string{b.in.Version, ""}) {
		for _, name := range b.channels() {
			if b.follows(name) {
				continue
			}
			found := b.try(ctx, func(r *Request) { r.Channels, r.Version = []string{name}, version })
			if found == nil {
				continue
			}
			way := fmt.Sprintf("set %s of ClusterExtension %s to %s", fieldChannels, b.name, name)
			if version != b.in.Version {
				way += fmt.Sprintf(" and %s to a range with %s", fieldVersion, found.VersionText)
			}
			return fmt.Sprintf("%s, which leads to %s; or %s", way, found.Name, otherwise)
		}
	}
	return otherwise
}

// force says how to do without an upgrade edge, as far as that works.
func (b *builder) force(ctx context.Context) string {
	from := b.in.Installed.Name
	if b.try(ctx, func(r *Request) { r.Policy = SelfCertified }) != nil {
		return b.askAuthors(from)
	}
	ask := "ask the authors of the catalog for an upgrade from " + from
	if found := b.try(ctx, func(r *Request) { r.Policy, r.Version = SelfCertified, "" }); found != nil {
		return fmt.Sprintf("%s, or, after making sure that it loses no data, set %s of ClusterExtension %s to %s and %s to a range with %s",
			ask, fieldPolicy, b.name, SelfCertified, fieldVersion, found.VersionText)
	}
	return ask
}
