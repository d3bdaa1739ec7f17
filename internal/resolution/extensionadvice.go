package resolution

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/resolve"
)

// hint says what to do about a conflict: what the rule says that refuses the most wanted candidate, or the last one that knows. What is
// left out of a catalog may be what is missing.
func (b *extensionBuilder) hint(ctx context.Context, r Reason, core []resolve.Clause) string {
	switch r {
	case CatalogUnavailable:
		return b.repair()
	case DependencyMissing, BreaksOthers, KubernetesTooOld:
		return b.unblock()
	case AmbiguousCatalogs, NoCatalog, DowngradeRefused:
		return b.lastHint(ctx, r, core)
	}
	text := b.lastHint(ctx, r, core)
	if broken := b.leftOut(nil); broken != "" {
		text += "; " + broken
	}
	return text
}

// unblock says what to do for the candidate that came nearest to be chosen, and for the most wanted one that something else keeps back: to
// do one of them is enough.
func (b *extensionBuilder) unblock() string {
	nearest := b.nearest()
	hint := nearest.refusal().origin.Hint
	for _, c := range b.candidates {
		if r := c.refusal(); r.rule >= ruleNeed && r.origin.Hint != hint {
			return fmt.Sprintf("for %s: %s; or for %s: %s", nearest.bundle.Name, hint, c.bundle.Name, r.origin.Hint)
		}
	}
	return hint
}

func (b *extensionBuilder) lastHint(ctx context.Context, r Reason, core []resolve.Clause) string {
	for i := len(core) - 1; i >= 0; i-- {
		if text := core[i].Origin.Hint; text != "" {
			return text
		}
	}
	return b.advice(ctx, r)
}

// advice says what to do about a conflict whose rules do not know.
func (b *extensionBuilder) advice(ctx context.Context, r Reason) string {
	edit := "of ClusterExtension " + b.name
	switch r {
	case ChannelNotFound:
		if b.leftOut(nil) != "" { // which is reported after it
			return fmt.Sprintf("correct %s %s, or ask the authors of the catalog to correct the channel: those that can be used are %s", fieldChannels, edit, list("channel", b.channels()))
		}
		return fmt.Sprintf("correct %s %s: the package has %s", fieldChannels, edit, list("channel", b.channels()))
	case VersionNotFound:
		return b.otherVersion(ctx)
	case DowngradeRefused:
		return fmt.Sprintf("to go back to an older version, make sure that no data is lost by it and set %s %s to %s", fieldPolicy, edit, SelfCertified)
	}
	if way := b.way(); way != "" {
		return way
	}
	return b.otherChannel(ctx, b.force(ctx))
}

func (b *extensionBuilder) askAuthors(from string) string {
	return fmt.Sprintf("ask the authors of the catalog for an upgrade from %s, or, after making sure that it loses no data, set %s of ClusterExtension %s to %s",
		from, fieldPolicy, b.name, SelfCertified)
}

func (b *extensionBuilder) repair() string {
	c := b.unavailable()
	do := "repair"
	if c.loading() {
		do = "wait for"
	}
	return fmt.Sprintf("%s ClusterCatalog %s, set its spec.availabilityMode to Unavailable, or let %s of ClusterExtension %s select other catalogs",
		do, c.Name, fieldSelector, b.name)
}

func (b *extensionBuilder) channels() []string {
	var all []string
	for _, c := range b.candidates {
		all = append(all, c.all...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// newest is the highest version in the channels that are followed, as a range can name it.
func (b *extensionBuilder) newest() string {
	var found *candidate
	for _, c := range b.candidates {
		if len(c.entries) > 0 && (found == nil || c.version.Compare(found.version) > 0) {
			found = c
		}
	}
	return found.bundle.VersionText
}

// provide says what to create so that a need, which stands in a certain place, is met.
func (b *extensionBuilder) provide(c constraint.Constraint, place string) string {
	packages := b.providers(c)
	switch {
	case c.GVK == nil && c.Package == nil:
		if c.FailureMessage != "" {
			const short = 120
			place += " (" + resolve.Tidy(c.FailureMessage, short) + ")"
		}
		return "create, upgrade or delete ClusterExtensions so that what " + place + " asks for is met"
	case len(packages) == 0:
		return "create a ClusterCatalog that has " + describe(c) + ", and a ClusterExtension for it"
	case c.Package != nil:
		return fmt.Sprintf("create a ClusterExtension for package %s, or upgrade the one that there is, with %s %q", packages[0], fieldVersion, c.Package.Range)
	}
	return "create a ClusterExtension for " + oneOf("package", packages)
}

// providersOf are the packages of a catalog that have something that a constraint without parts asks for.
func providersOf(c constraint.Constraint, x *catalog.Index) []string {
	var names []string
	if c.GVK != nil {
		for _, bundle := range x.ProvidersV1(*c.GVK) {
			names = append(names, bundle.Package)
		}
	}
	if c.Package == nil {
		return names
	}
	p, ok := x.PackageV1(c.Package.Name)
	if !ok {
		return nil
	}
	for _, channel := range p.Channels {
		for _, e := range channel.Entries {
			if c.Package.Range.Contains(e.Bundle.Version.Version) {
				return []string{p.Name}
			}
		}
	}
	return nil
}

// extensionMaxTrials is how often is tried, for one conflict, whether advice works.
const extensionMaxTrials = 12

// try decides on a changed request, and returns the bundle that the extension would get by it; nil when it gets nothing new. What it costs
// is taken from the budget of the decision itself.
func (b *extensionBuilder) try(ctx context.Context, change func(*ExtensionRequest)) *catalog.BundleInfo {
	if b.trials >= extensionMaxTrials || b.world.spent() || ctx.Err() != nil {
		return nil
	}
	b.trials++
	t := &extensionBuilder{in: b.in, name: b.name, world: b.world.forTrial(), installed: map[string]resolve.Var{}, trial: true}
	change(&t.in)
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

// otherVersion says what to do about a range that fits nothing: which version its channels lead to or, where they lead nowhere, which other
// channel does.
func (b *extensionBuilder) otherVersion(ctx context.Context) string {
	correct := fmt.Sprintf("correct %s of ClusterExtension %s: ", fieldVersion, b.name)
	newest := b.newest()
	found := b.try(ctx, func(r *ExtensionRequest) { r.Version = "" })
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
func (b *extensionBuilder) otherChannel(ctx context.Context, otherwise string) string {
	if len(b.in.Channels) == 0 {
		return otherwise
	}
	for _, version := range slices.Compact([]string{b.in.Version, ""}) {
		for _, name := range b.channels() {
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

// force says how to do without an upgrade edge, as far as that works.
func (b *extensionBuilder) force(ctx context.Context) string {
	from := b.in.Installed.Name
	if b.try(ctx, func(r *ExtensionRequest) { r.Policy = SelfCertified }) != nil {
		return b.askAuthors(from)
	}
	ask := "ask the authors of the catalog for an upgrade from " + from
	if found := b.try(ctx, func(r *ExtensionRequest) { r.Policy, r.Version = SelfCertified, "" }); found != nil {
		return fmt.Sprintf("%s, or, after making sure that it loses no data, set %s of ClusterExtension %s to %s and %s to a range with %s",
			ask, fieldPolicy, b.name, SelfCertified, fieldVersion, found.VersionText)
	}
	return ask
}
