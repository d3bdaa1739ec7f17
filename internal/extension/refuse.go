package extension

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"
)

// rule is what may rule a candidate out. Rules are asked in this order; an explanation names the first one that does.
type rule int

const (
	ruleChannel rule = iota
	ruleRange
	ruleEdge
	ruleHidden // by a catalog without content
	ruleNeed
	ruleGuard
	ruleKubernetes
)

// refusal is why a candidate cannot be had.
type refusal struct {
	rule   rule
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
func (b *builder) refuse(c *candidate) {
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
func (b *builder) add(c *candidate, r rule, o resolve.Origin, alike string) {
	o.Alike = alike
	c.refusals = append(c.refusals, refusal{rule: r, origin: o})
	if len(c.refusals) == 1 {
		b.problem.Forbid(c.v, o)
	}
}

// mayReplace tells whether the candidate may follow on what is installed.
func (b *builder) mayReplace(c *candidate) bool {
	installed := b.in.Installed
	if installed == nil || b.in.Policy == SelfCertified || c.version.Compare(b.from()) == 0 {
		return true
	}
	return follows(c, installed)
}

// from is the installed version as it is ordered.
func (b *builder) from() version.VersionRelease { return catalog.Released(b.in.Installed.Version) }

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
func (b *builder) isHidden(c *candidate) bool {
	return b.blind != nil && (c.deprecated() || c.catalog.Priority <= b.blind.Priority)
}

// originOf says where a rule about a candidate comes from.
func (b *builder) originOf(c *candidate, field, format string, args ...any) resolve.Origin {
	o := b.origin(field, format, args...)
	o.Catalog, o.Digest = c.catalog.Name, c.catalog.digest()
	return o
}

// origin says where a rule of the extension comes from.
func (b *builder) origin(field, format string, args ...any) resolve.Origin {
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
