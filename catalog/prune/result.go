package prune

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// catalog makes the catalog of what is kept, in the order of the source.
func (p *pruner) catalog() *catalog.Catalog {
	out := &catalog.Catalog{}
	for _, o := range p.source.Packages {
		if pkg, ok := p.kept[o.Name]; ok {
			o.DefaultChannel = pkg.defaultChannel
			out.Packages = append(out.Packages, o)
		}
	}
	for _, o := range p.source.Channels {
		pkg, ok := p.kept[o.Package]
		if !ok {
			continue
		}
		if c := pkg.channels[o.Name]; c != nil && !c.empty() {
			o.Entries = slices.DeleteFunc(slices.Clone(o.Entries), func(e catalog.Entry) bool { return !c.keeps(e.Name) })
			out.Channels = append(out.Channels, o)
		}
	}
	for _, o := range p.source.Bundles {
		if pkg, ok := p.kept[o.Package]; ok && pkg.keeps(o.Name) {
			out.Bundles = append(out.Bundles, o)
		}
	}
	for _, o := range p.source.Deprecations {
		if pkg, ok := p.kept[o.Package]; ok {
			o.Entries = slices.DeleteFunc(slices.Clone(o.Entries), func(d catalog.Deprecation) bool { return !pkg.has(d.Reference) })
			if len(o.Entries) > 0 {
				out.Deprecations = append(out.Deprecations, o)
			}
		}
	}
	for _, o := range p.source.Others {
		if _, ok := p.kept[o.Package]; ok || o.Package == "" {
			out.Others = append(out.Others, o)
		}
	}
	return out
}

// keeps tells whether a bundle is in a kept channel.
func (pkg *keptPackage) keeps(bundle string) bool {
	return slices.ContainsFunc(pkg.stretches, func(c *stretch) bool { return c.keeps(bundle) })
}

// has tells whether what a deprecation is about is kept.
func (pkg *keptPackage) has(r catalog.Reference) bool {
	switch r.Schema {
	case catalog.SchemaChannel:
		c, err := pkg.channel(r.Name)
		return err == nil && !c.empty()
	case catalog.SchemaBundle:
		return pkg.keeps(r.Name)
	}
	return true
}

// report is what is said about a package.
func (pkg *keptPackage) report() Package {
	out := Package{Name: pkg.info.Name, Why: pkg.why, DefaultChannel: pkg.defaultChannel}
	if pkg.defaultChannel != pkg.info.DefaultChannel {
		out.FormerDefaultChannel = pkg.info.DefaultChannel
	}
	seen := map[string]bool{}
	for _, c := range pkg.stretches {
		if c.empty() {
			out.DroppedChannels = append(out.DroppedChannels, c.info.Name)
		} else {
			out.Channels = append(out.Channels, c.report())
		}
		for _, e := range c.info.Entries {
			switch {
			case seen[e.Name]:
			case pkg.keeps(e.Name):
				out.Bundles = append(out.Bundles, Bundle{Name: e.Name, Version: e.Bundle.WrittenVersion(), Why: *pkg.bundles[e.Name]})
			default:
				out.DroppedBundles = append(out.DroppedBundles, e.Name)
			}
			seen[e.Name] = true
		}
	}
	slices.Sort(out.DroppedChannels)
	slices.Sort(out.DroppedBundles)
	slices.SortFunc(out.Channels, func(a, b Channel) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(out.Bundles, func(a, b Bundle) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (s *stretch) report() Channel {
	out := Channel{Name: s.info.Name, Why: s.why, Head: s.head().Name, Tail: s.line[s.bottom].Name}
	if s.top > 0 {
		out.FormerHead = s.line[0].Name
	}
	for name := range s.entries {
		if s.keeps(name) {
			out.Entries++
		}
	}
	return out
}

// remarks are what a user who mirrors the result should know.
func (r *Report) remarks() []string {
	var notes []string
	for _, pkg := range r.Packages {
		if pkg.FormerDefaultChannel != "" {
			notes = append(notes, fmt.Sprintf("package %s: the default channel is now %s, no longer %s", safetext.Quote(pkg.Name), safetext.Quote(pkg.DefaultChannel), safetext.Quote(pkg.FormerDefaultChannel)))
		}
		for _, c := range pkg.Channels {
			if c.Name == pkg.DefaultChannel && slices.Equal(c.Why, []string{whyDefault}) {
				notes = append(notes, fmt.Sprintf("package %s: channel %s is kept only because it is the default channel; make another one the default to do without it", safetext.Quote(pkg.Name), safetext.Quote(c.Name)))
			}
		}
	}
	// The images without a digest.
	var names []string
	for _, i := range r.Images {
		if i.Digest == "" {
			names = append(names, i.Image)
		}
	}
	if tagged := names; len(tagged) > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d images are named without a digest, such as %s: a mirror may get others than were meant", len(tagged), len(r.Images), tagged[0]))
	}
	return notes
}
