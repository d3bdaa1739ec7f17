package resolution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
func (b *extensionBuilder) collect() {
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
func (b *extensionBuilder) prefer(x, y *candidate) int {
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

func (b *extensionBuilder) isInstalled(c *candidate) bool {
	return b.in.Installed != nil && c.bundle.Name == b.in.Installed.Name
}

func (b *extensionBuilder) packageOf(c *Catalog) (*catalog.PackageInfo, bool) {
	if c.Index == nil {
		return nil, false
	}
	return c.Index.PackageV1(b.in.Package)
}

func (b *extensionBuilder) follows(channel string) bool {
	return len(b.in.Channels) == 0 || slices.Contains(b.in.Channels, channel)
}

// refusalRule is what may rule a candidate out. Rules are asked in this order; an explanation names the first one that does.
type refusalRule int

const (
	ruleChannel refusalRule = iota
	ruleRange
	ruleEdge
	ruleHidden // by a catalog without content
	ruleNeed
	ruleGuard
	ruleKubernetes
)

// refusal is why a candidate cannot be had.
type refusal struct {
	rule   refusalRule
	origin resolve.Origin
	by     string    // the type of the property of a need, or the extension that a guard is for
	lacks  []Missing // what would meet a need; nil when nobody has that
}

// The fields of a ClusterExtension that explanations name.
const (
	fieldPackage  = "spec.source.catalog.packageName"
	fieldVersion  = "spec.source.catalog.version"
	fieldChannels = "spec.source.catalog.channels"
	fieldSelector = "spec.source.catalog.selector"
	fieldPolicy   = "spec.source.catalog.upgradeConstraintPolicy"
)

// refuse applies the rules that look at one candidate alone.
func (b *extensionBuilder) refuse(c *candidate) {
	if len(c.entries) == 0 {
		b.add(c, ruleChannel, b.originOf(c, fieldChannels, "%s is in %s, and the extension follows %s",
			c.bundle.Name, list("channel", c.all), list("channel", b.in.Channels)), "version in the channels that the extension follows")
	}
	if !b.versions.IsZero() && !b.versions.Contains(c.bundle.Version.Version) {
		b.add(c, ruleRange, b.originOf(c, fieldVersion, "%s has version %s, which is not in range %q", c.bundle.Name, c.bundle.WrittenVersion(), b.in.Version),
			"version in the range")
	}
	if len(c.entries) > 0 && !b.mayReplace(c) {
		b.add(c, ruleEdge, b.originOf(c, fieldPolicy, "nothing upgrades from the installed %s to %s: in %s it neither replaces nor skips %s, and no skipRange of it contains %s",
			b.in.Installed.Name, c.bundle.Name, list("channel", c.channels), b.in.Installed.Name, b.in.Installed.Version), "upgrade edge")
	}
	if b.isHidden(c) {
		b.add(c, ruleHidden, b.originOf(c, fieldSelector, "%s of catalog %s may not be the best: catalog %s, whose content would come first or beside it, has none that is available: %s",
			c.bundle.Name, c.catalog.Name, b.blind.Name, b.trouble(b.blind)), "hidden")
	}
}

// add notes that a candidate is refused, and states the first reason of it.
func (b *extensionBuilder) add(c *candidate, r refusalRule, o resolve.Origin, alike string) {
	o.Alike = alike
	c.refusals = append(c.refusals, refusal{rule: r, origin: o})
	if len(c.refusals) == 1 {
		b.problem.Forbid(c.v, o)
	}
}

// mayReplace tells whether the candidate may follow on what is installed.
func (b *extensionBuilder) mayReplace(c *candidate) bool {
	installed := b.in.Installed
	if installed == nil || b.in.Policy == SelfCertified || c.version.Compare(b.from()) == 0 {
		return true
	}
	return follows(c, installed)
}

// from is the installed version as it is ordered.
func (b *extensionBuilder) from() version.VersionRelease {
	return catalog.Released(b.in.Installed.Version)
}

// follows tells whether an upgrade edge leads from a bundle to the candidate.
func follows(c *candidate, from *Installed) bool {
	for _, e := range c.entries {
		if e.Replaces == from.Name || slices.Contains(e.Skips, from.Name) || e.SkipRange.Contains(from.Version.Version) {
			return true
		}
	}
	return false
}

// isHidden reports whether a catalog whose content has to be waited for could have something that is wanted as much as the candidate, or more.
func (b *extensionBuilder) isHidden(c *candidate) bool {
	return b.blind != nil && (c.deprecated() || c.catalog.Priority <= b.blind.Priority)
}

// originOf says where a rule about a candidate comes from.
func (b *extensionBuilder) originOf(c *candidate, field, format string, args ...any) resolve.Origin {
	o := b.origin(field, format, args...)
	o.Catalog, o.Digest = c.catalog.Name, c.catalog.digest()
	return o
}

// origin says where a rule of the extension comes from.
func (b *extensionBuilder) origin(field, format string, args ...any) resolve.Origin {
	return resolve.Origin{Object: "ClusterExtension " + b.name, Field: field, Text: fmt.Sprintf(format, args...)}
}

// oneOf names some things of which one is enough.
func oneOf(noun string, names []string) string {
	const shown = 5
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s %s or one of %d more", noun, strings.Join(names[:shown], ", "), more)
	}
	if last := len(names) - 1; last > 0 {
		return noun + " " + strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return list(noun, names)
}

// list names some things.
func list(noun string, names []string) string {
	const shown = 5
	if len(names) != 1 {
		noun += "s"
	}
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s %s and %d more", noun, strings.Join(names[:shown], ", "), more)
	}
	if last := len(names) - 1; last > 0 {
		return noun + " " + strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return noun + " " + strings.Join(names, "")
}
