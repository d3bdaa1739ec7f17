package extension

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/constraint"
	"fairlead.dev/fairlead/resolve"
)

// hint says what to do about a conflict: what the rule says that refuses the most wanted candidate, or the last one that knows. What is
// left out of a catalog may be what is missing.
func (b *builder) hint(ctx context.Context, r Reason, core []resolve.Clause) string {
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
func (b *builder) unblock() string {
	nearest := b.nearest()
	hint := nearest.refusal().origin.Hint
	for _, c := range b.candidates {
		if r := c.refusal(); r.rule >= ruleNeed && r.origin.Hint != hint {
			return fmt.Sprintf("for %s: %s; or for %s: %s", nearest.bundle.Name, hint, c.bundle.Name, r.origin.Hint)
		}
	}
	return hint
}

func (b *builder) lastHint(ctx context.Context, r Reason, core []resolve.Clause) string {
	for i := len(core) - 1; i >= 0; i-- {
		if text := core[i].Origin.Hint; text != "" {
			return text
		}
	}
	return b.advice(ctx, r)
}

// advice says what to do about a conflict whose rules do not know.
func (b *builder) advice(ctx context.Context, r Reason) string {
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

func (b *builder) askAuthors(from string) string {
	return fmt.Sprintf("ask the authors of the catalog for an upgrade from %s, or, after making sure that it loses no data, set %s of ClusterExtension %s to %s",
		from, fieldPolicy, b.name, SelfCertified)
}

func (b *builder) repair() string {
	c := b.unavailable()
	do := "repair"
	if c.loading() {
		do = "wait for"
	}
	return fmt.Sprintf("%s ClusterCatalog %s, set its spec.availabilityMode to Unavailable, or let %s of ClusterExtension %s select other catalogs",
		do, c.Name, fieldSelector, b.name)
}

func (b *builder) channels() []string {
	var all []string
	for _, c := range b.candidates {
		all = append(all, c.all...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// newest is the highest version in the channels that are followed, as a range can name it.
func (b *builder) newest() string {
	var found *candidate
	for _, c := range b.candidates {
		if len(c.entries) > 0 && (found == nil || c.version.Compare(found.version) > 0) {
			found = c
		}
	}
	return found.bundle.VersionText
}

// provide says what to create so that a need, which stands in a certain place, is met.
func (b *builder) provide(c constraint.Constraint, place string) string {
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
