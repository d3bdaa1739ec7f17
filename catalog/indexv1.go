package catalog

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/version"
)

// Under v0 a channel that does not hold together, for example because it has two heads, is not served: it leads nowhere in particular. Under v1
// versions decide and heads mean nothing, so every entry of every channel counts. An Index has what v0 serves, and beside it what v1 serves more.

// onlyV1 is what an Index serves under v1 alone.
type onlyV1 struct {
	packages  map[string]*PackageInfo // those that v0 serves less of, whole
	bundles   map[bundleKey]*BundleInfo
	providers map[GVK][]*BundleInfo
	names     []string // of all packages under v1, sorted
}

// addPackage serves a package: under v0 as far as it has channels, under v1 with the loose ones, too.
func (x *Index) addPackage(p *PackageInfo, loose []*ChannelInfo) {
	for _, c := range p.Channels {
		for _, e := range c.Entries {
			x.bundles[bundleKey{p.Name, e.Name}] = e.Bundle
		}
	}
	if len(p.Channels) > 0 {
		x.packages[p.Name] = p
	}
	if len(loose) == 0 {
		return
	}
	for _, c := range loose {
		for _, e := range c.Entries {
			if key := (bundleKey{p.Name, e.Name}); x.bundles[key] == nil {
				x.v1.bundles[key] = e.Bundle
			}
		}
	}
	whole := *p
	whole.Channels = slices.Concat(p.Channels, loose)
	whole.order()
	x.v1.packages[p.Name] = &whole
}

// PackageV1 finds a package as v1 serves it: with all entries of all its channels, also of those that v0 leaves out.
func (x *Index) PackageV1(name string) (*PackageInfo, bool) {
	if p, ok := x.v1.packages[name]; ok {
		return p, true
	}
	return x.Package(name)
}

// BundleV1 finds a bundle of a package as v1 serves it.
func (x *Index) BundleV1(pkg, name string) (*BundleInfo, bool) {
	if b, ok := x.v1.bundles[bundleKey{pkg, name}]; ok {
		return b, true
	}
	return x.Bundle(pkg, name)
}

// PackageNamesV1 are the names of all packages that v1 serves, sorted.
func (x *Index) PackageNamesV1() []string { return x.v1.names }

// ProvidersV1 are the bundles that provide an API under v1, in the order of Providers.
func (x *Index) ProvidersV1(gvk GVK) []*BundleInfo {
	more := x.v1.providers[gvk]
	if len(more) == 0 {
		return x.providers[gvk]
	}
	return slices.SortedFunc(slices.Values(slices.Concat(x.providers[gvk], more)), compareProviders)
}

// OnlyV0 reports whether nothing is left out for the problem under v1.
func (p Problem) OnlyV0() bool {
	switch p.Rule {
	case RuleChannelHead, RuleChannelCycle, RuleChannelStranded, RuleChannelDuplicate, RuleEntryDuplicate, RuleEntryName:
		return true
	}
	return false
}

// UnderV1 are the problems that v1 leaves something out for, or could.
func (p Problems) UnderV1() Problems {
	return slices.DeleteFunc(slices.Clone(p), Problem.OnlyV0)
}

// About are the errors that are about a package or a part of it.
func (p Problems) About(pkg string) Problems {
	var found Problems
	for _, problem := range p {
		if o := problem.Object; problem.Severity == Error && (o.Package == pkg || o.Schema == SchemaPackage && o.Name == pkg) {
			found = append(found, problem)
		}
	}
	return found
}

// loose is a channel as v1 alone serves it: all entries that have sound bundles, by name. It is nil if there are none.
func (p *packageModel) loose(c *channelModel) *ChannelInfo {
	info := &ChannelInfo{
		Name:        c.source.Name,
		Package:     p.source.Name,
		Deprecation: p.reasons[Reference{Schema: SchemaChannel, Name: c.source.Name}],
	}
	for _, e := range c.all() {
		e.InChain = false
		if b := p.bundles[e.Name]; b != nil && !b.broken {
			e.Skipped, e.Bundle = c.graph.skipped[e.Name], b.info
			info.Entries = append(info.Entries, e)
		}
	}
	if len(info.Entries) == 0 {
		return nil
	}
	return info
}

// all are the entries of a channel, those of the same name too, by name.
func (c *channelModel) all() []*EntryInfo {
	entries := make([]*EntryInfo, 0, len(c.entries)+len(c.more))
	for _, e := range c.entries {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b *EntryInfo) int { return strings.Compare(a.Name, b.Name) })
	entries = append(entries, c.more...)
	slices.SortStableFunc(entries, func(a, b *EntryInfo) int { return strings.Compare(a.Name, b.Name) })
	return entries
}

// unusable lists the entries of the package that have no bundle which can be used.
func (p *packageModel) unusable() []UnusableEntry {
	found := map[string]*UnusableEntry{}
	for _, c := range p.order {
		for _, e := range c.all() {
			b := p.bundles[e.Name]
			if b != nil && !b.broken {
				continue
			}
			u := found[e.Name]
			if u == nil {
				u = &UnusableEntry{Name: e.Name}
				found[e.Name] = u
				if b != nil && b.info.VersionText != "" {
					u.Version = &version.VersionRelease{Version: b.info.Version.Version, Release: b.info.Version.Release}
				}
			}
			u.Channels = append(u.Channels, c.source.Name)
		}
	}
	var all []UnusableEntry
	for _, u := range found {
		slices.Sort(u.Channels)
		u.Channels = slices.Compact(u.Channels)
		all = append(all, *u)
	}
	slices.SortFunc(all, func(a, b UnusableEntry) int { return strings.Compare(a.Name, b.Name) })
	return all
}
