package prune

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// selectFrom keeps what is selected of a channel, and tells whether anything is.
func (p *pruner) selectFrom(pkg *keptPackage, c *stretch, s Selection) bool {
	reason := "selected"
	if !s.Versions.IsZero() {
		reason = "in the version range " + safetext.Quote(s.Versions.String())
	}
	found := false
	for place, e := range c.line {
		if !s.matches(e) {
			continue
		}
		found = true
		if s.HeadsOnly {
			p.extend(pkg, c, place, "selected, nearest to the head of channel "+safetext.Quote(c.info.Name))
			break
		}
		p.extend(pkg, c, place, reason)
	}
	if !s.HeadsOnly || !found {
		// Ask for the skipped entries that are selected. If nothing on the line is, they are kept with what skips them.
		var selected []*catalog.EntryInfo
		for _, e := range c.info.Entries[len(c.line):] {
			if s.matches(e) {
				selected = append(selected, e)
			}
		}
		if s.HeadsOnly && len(selected) > 0 {
			selected = []*catalog.EntryInfo{slices.MaxFunc(selected, func(a, b *catalog.EntryInfo) int { return a.Bundle.Version.Compare(b.Bundle.Version) })}
		}
		for _, e := range selected {
			c.ask(e.Name, reason, !found)
			if !found {
				p.support(pkg, c, e.Name)
			}
		}
		p.touched = append(p.touched, touched{pkg, c})
		found = found || len(selected) > 0
	}
	if found {
		c.why.add("selected")
	}
	return found
}

// support keeps a part of the line for a skipped entry that is kept in any
// case: what skips it, or else the head.
func (p *pruner) support(pkg *keptPackage, c *stretch, name string) {
	if !c.empty() {
		return // settling takes care of it
	}
	on := c.skippers(name)
	if len(on) == 0 {
		p.extend(pkg, c, 0, "head of channel "+safetext.Quote(c.info.Name))
		return
	}
	p.extend(pkg, c, on[len(on)-1], "skips "+safetext.Quote(name)+", which is kept")
}

// whyDefault is the reason to keep a channel that no one asked for.
const whyDefault = "default channel"

// keepDefaultChannels keeps something of the default channel of each package,
// which could not be without one.
func (p *pruner) keepDefaultChannels() error {
	for _, pkg := range p.fresh {
		if name, ok := p.opts.DefaultChannels[pkg.info.Name]; ok {
			pkg.defaultChannel = name
		}
		c, err := pkg.channel(pkg.defaultChannel)
		if err != nil {
			return fmt.Errorf("the default channel is to be %s: %w", safetext.Quote(pkg.defaultChannel), err)
		}
		if c.empty() {
			c.incidental = true
			c.why.add(whyDefault)
			// The first entry from the head that a selection of the package would have had, or else the head.
			place := slices.IndexFunc(c.line, func(e *catalog.EntryInfo) bool {
				return slices.ContainsFunc(p.opts.Packages, func(s Selection) bool {
					return s.Package == pkg.info.Name && s.Versions.Contains(e.Bundle.Version.Version)
				})
			})
			p.extend(pkg, c, max(place, 0), "for the default channel, "+safetext.Quote(c.info.Name))
		}
	}
	p.fresh = nil
	return nil
}
