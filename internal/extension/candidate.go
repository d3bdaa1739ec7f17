package extension

import (
	"cmp"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"
)

// candidate is a bundle of the package in a catalog.
type candidate struct {
	v        resolve.Var
	catalog  *Catalog
	bundle   *catalog.BundleInfo
	version  version.VersionRelease // as it is ordered
	all      []string               // channels that it is in, by name
	channels []string               // those of them that are followed
	entries  []*catalog.EntryInfo   // its places in these
	refusals []refusal              // what rules it out, in the order in which the rules are asked
}

func (c *candidate) deprecated() bool { return c.bundle.Deprecation != "" }

// refusal is the first reason that rules a candidate out; nil when it can be had.
func (c *candidate) refusal() *refusal {
	if len(c.refusals) == 0 {
		return nil
	}
	return &c.refusals[0]
}

// collect lists the bundles of the package in the selected catalogs, the most wanted first.
func (b *builder) collect() {
	for _, source := range b.catalogs {
		p, ok := b.packageOf(source)
		if !ok {
			continue
		}
		known := map[*catalog.BundleInfo]*candidate{}
		for _, channel := range p.Channels {
			for _, e := range channel.Entries {
				c := known[e.Bundle]
				if c == nil {
					c = &candidate{catalog: source, bundle: e.Bundle, version: catalog.Released(e.Bundle.Version)}
					known[e.Bundle] = c
					b.candidates = append(b.candidates, c)
				}
				c.all = append(c.all, channel.Name)
				if b.follows(channel.Name) {
					c.channels = append(c.channels, channel.Name)
					c.entries = append(c.entries, e)
				}
			}
		}
	}
	slices.SortFunc(b.candidates, b.prefer)
	for _, c := range b.candidates {
		c.all, c.channels = inOrder(c.all), inOrder(c.channels)
		c.v = b.problem.Var("bundle:" + c.catalog.Name + "/" + c.bundle.Name)
	}
}

// prefer orders candidates: what is not deprecated first, then catalogs of higher priority, then higher versions. Of the same version
// the installed bundle comes first, and others are in the order of their names.
func (b *builder) prefer(x, y *candidate) int {
	return cmp.Or(
		cmp.Compare(rank(x.deprecated()), rank(y.deprecated())),
		cmp.Compare(y.catalog.Priority, x.catalog.Priority),
		y.version.Compare(x.version),
		cmp.Compare(rank(!b.isInstalled(x)), rank(!b.isInstalled(y))),
		cmp.Compare(x.bundle.Name, y.bundle.Name),
		cmp.Compare(x.catalog.Name, y.catalog.Name),
	)
}

// inOrder sorts names, each once: a channel may have more than one entry for a bundle.
func inOrder(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

func (b *builder) isInstalled(c *candidate) bool {
	return b.in.Installed != nil && c.bundle.Name == b.in.Installed.Name
}

func (b *builder) packageOf(c *Catalog) (*catalog.PackageInfo, bool) {
	if c.Index == nil {
		return nil, false
	}
	return c.Index.PackageV1(b.in.Package)
}

func (b *builder) follows(channel string) bool {
	return len(b.in.Channels) == 0 || slices.Contains(b.in.Channels, channel)
}
