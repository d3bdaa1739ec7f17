package resolution

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// remedy finds what to do about a conflict of a ClusterExtension.
type remedy struct {
	*extensionFront
	reason Reason
}

// ways says what to do: what the rule says that refuses the most wanted candidate, or the last one that knows. What is left out of a
// catalog may be what is missing.
func (b *extensionFront) ways(ctx context.Context, e *explanation) string {
	w := remedy{b, b.reason(e.core)}
	last := ""
	for _, c := range e.core {
		last = cmp.Or(c.Origin.Hint, last)
	}
	switch w.reason {
	case CatalogUnavailable:
		c := w.unavailable()
		do := "repair"
		if c.loading() {
			do = "wait for"
		}
		return fmt.Sprintf("%s ClusterCatalog %s, set its spec.availabilityMode to Unavailable, or let %s of ClusterExtension %s select other catalogs",
			do, c.Name, fieldSelector, w.name)
	case DependencyMissing, BreaksOthers, KubernetesTooOld:
		// What to do for the candidate that came nearest to be chosen, and for the most wanted one that something else keeps back: to do
		// one of them is enough.
		nearest := w.candidates.nearest()
		hint := nearest.refusal().origin.Hint
		for _, c := range w.candidates {
			if r := c.refusal(); r.rule >= ruleNeed && r.origin.Hint != hint {
				return fmt.Sprintf("for %s: %s; or for %s: %s", nearest.bundle.Name, hint, c.bundle.Name, r.origin.Hint)
			}
		}
		return hint
	}
	text := last
	if text == "" {
		text = w.advice(ctx)
	}
	switch w.reason {
	case AmbiguousCatalogs, NoCatalog, DowngradeRefused:
		return text
	}
	if broken := b.leftOut(nil); broken != "" {
		text += "; " + broken
	}
	return text
}

// advice says what to do about a conflict whose rules do not know.
func (b *remedy) advice(ctx context.Context) string {
	edit := "of ClusterExtension " + b.name
	switch b.reason {
	case ChannelNotFound:
		if b.leftOut(nil) != "" { // which is reported after it
			return fmt.Sprintf("correct %s %s, or ask the authors of the catalog to correct the channel: those that can be used are %s", fieldChannels, edit, list("channel", b.candidates.channels()))
		}
		return fmt.Sprintf("correct %s %s: the package has %s", fieldChannels, edit, list("channel", b.candidates.channels()))
	case VersionNotFound:
		// What to do about a range that fits nothing: which version its channels lead to or, where they lead nowhere, which other channel
		// does.
		correct := fmt.Sprintf("correct %s of ClusterExtension %s: ", fieldVersion, b.name)
		var highest *candidate // in the channels that are followed
		for _, c := range b.candidates {
			if len(c.entries) > 0 && (highest == nil || c.version.Compare(highest.version) > 0) {
				highest = c
			}
		}
		newest := highest.bundle.VersionText // as a range can name it
		found := b.try(ctx, func(r *ExtensionRequest) { r.Version = "" })
		switch {
		case found == nil && b.in.Installed != nil:
			return b.otherChannel(ctx)
		case found == nil || found.VersionText == newest:
			return correct + "the newest version in its channels is " + newest
		case b.in.Installed == nil:
			return fmt.Sprintf("%sthe newest version that can be had now is %s", correct, found.VersionText)
		}
		return fmt.Sprintf("%sthe newest version that can be had now is %s, and %s in its channels is not reached from the installed %s in one step",
			correct, found.VersionText, newest, b.in.Installed.Name)
	case DowngradeRefused:
		return fmt.Sprintf("to go back to an older version, make sure that no data is lost by it and set %s %s to %s", fieldPolicy, edit, SelfCertified)
	}
	// The versions by which the installed bundle comes to the most wanted one that only lacks an edge, one upgrade at a time.
	way := route{b.candidates, b.in.Installed, b.name}
	from := way.ways()
	for _, c := range b.candidates {
		if from[c] != nil && c.refusal().rule == ruleEdge {
			return way.stops(c, from)
		}
	}
	return b.otherChannel(ctx)
}

func askAuthors(extension, from string) string {
	return fmt.Sprintf("ask the authors of the catalog for an upgrade from %s, or, after making sure that it loses no data, set %s of ClusterExtension %s to %s",
		from, fieldPolicy, extension, SelfCertified)
}

// otherChannel says which other channel leads on from what is installed, with the range as it is or with another one; without such a channel,
// or after it, it says how to do without an upgrade edge, as far as that works.
func (b *remedy) otherChannel(ctx context.Context) string {
	otherwise := "ask the authors of the catalog for an upgrade from " + b.in.Installed.Name
	if b.try(ctx, func(r *ExtensionRequest) { r.Policy = SelfCertified }) != nil {
		otherwise = askAuthors(b.name, b.in.Installed.Name)
	} else if found := b.try(ctx, func(r *ExtensionRequest) { r.Policy, r.Version = SelfCertified, "" }); found != nil {
		otherwise += fmt.Sprintf(", or, after making sure that it loses no data, set %s of ClusterExtension %s to %s and %s to a range with %s",
			fieldPolicy, b.name, SelfCertified, fieldVersion, found.VersionText)
	}
	if len(b.in.Channels) == 0 {
		return otherwise
	}
	for _, version := range slices.Compact([]string{b.in.Version, ""}) {
		for _, name := range b.candidates.channels() {
			if b.follows(name) {
				continue
			}
			found := b.try(ctx, func(r *ExtensionRequest) { r.Channels, r.Version = []string{name}, version })
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

// try decides on a changed request, and returns the bundle that the extension would get by it; nil when it gets nothing new. What it costs
// is taken from the budget of the decision itself.
func (b *extensionFront) try(ctx context.Context, change func(*ExtensionRequest)) *catalog.BundleInfo {
	if b.world.spent() || !b.mayTry(ctx) {
		return nil
	}
	in := b.in
	change(&in)
	t := newExtension(in, world{rules: b.world.rules, cost: b.world.cost, asked: b.world.asked}, true)
	result, err := t.resolve(ctx)
	b.world.cost, b.world.asked = t.world.cost, t.world.asked
	for i, f := range t.world.facts { // what the advice depends on belongs to the record
		b.world.facts[i].used = b.world.facts[i].used || f.used
	}
	if err != nil || result.Change == ChangeStay {
		return nil
	}
	return result.Bundle
}
