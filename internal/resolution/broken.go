package resolution

import (
	"fmt"

	"fairlead.dev/fairlead/catalog"
)

// broken says that the package or the channel of a request is in its catalog and cannot be used; nil when it is not there, or can.
func (r *request) broken() *trouble {
	s, x := r.sub, r.source.Index
	mend := fmt.Sprintf("ask the authors of catalog %s to correct it", s.Catalog)
	p, served := x.Package(s.Package)
	if !served {
		problem := withheld(x, s.Package)
		if problem == "" {
			return nil
		}
		return &trouble{fieldName, fmt.Sprintf("no operators found in package %s in the catalog referenced by subscription %s: "+
			"catalog %s has the package, but nothing of it can be used: %s",
			s.Package, s.Name, s.Catalog, problem), mend, false, nil}
	}
	if _, ok := p.Channel(s.Channel); ok || s.Channel == "" {
		return nil
	}
	problem := problemOf(x, func(o catalog.Object) bool {
		return o == catalog.Object{Schema: catalog.SchemaChannel, Package: s.Package, Name: s.Channel}
	})
	if problem == "" {
		return nil
	}
	return &trouble{fieldChannel, fmt.Sprintf("no operators found in channel %s of package %s in the catalog referenced by subscription %s: "+
		"the catalog has the channel, but it cannot be used: %s",
		s.Channel, s.Package, s.Name, problem),
		mend, false, nil}
}

// problemOf is the first error about an object; empty when there is none. A bundle that is missing may be in text that cannot be read,
// which comes first then: of the text nobody knows what it is about.
func problemOf(x *catalog.Index, is func(catalog.Object) bool) string {
	for _, p := range x.Problems() {
		if p.Severity != catalog.Error || !is(p.Object) {
			continue
		}
		if p.Rule == catalog.RuleEntryWithoutBundle {
			if unread := unreadAfter(x, p.Position); unread != "" {
				return unread + "; with that, " + p.String()
			}
		}
		return p.String()
	}
	return ""
}

// unreadAfter is the first error about text of a file that cannot be read, from a line on.
func unreadAfter(x *catalog.Index, at catalog.Position) string {
	for _, p := range x.Problems() {
		if p.Severity == catalog.Error && p.Rule == catalog.RuleSyntax && p.Position.File == at.File && p.Position.Line >= at.Line {
			return p.String()
		}
	}
	return ""
}

// whyMissing says why an entry is not served: what is wrong with its bundle, or that it has none.
func (r *request) whyMissing(c *catalog.ChannelInfo, name string) string {
	problem := problemOf(r.source.Index, func(o catalog.Object) bool {
		return o == catalog.Object{Schema: catalog.SchemaBundle, Package: c.Package, Name: name}
	})
	if problem == "" {
		return fmt.Sprintf("entry %s of channel %s of package %s has no bundle in catalog %s", name, c.Name, c.Package, r.source.Ref)
	}
	return problem
}

// unusable finds an entry that would be preferred to what was chosen and that is not served because its bundle is broken.
func (r *request) unusable(chosen string) (name, problem string) {
	for _, c := range r.channels {
		place := len(c.Entries)
		for i, e := range c.Entries {
			if e.Name == chosen {
				place = i
				break
			}
		}
		if place == len(c.Entries) {
			continue // how it stands to that of another channel nobody knows
		}
		for _, m := range c.Missing {
			if m.Place <= place && m.Name != chosen {
				return m.Name, r.whyMissing(c, m.Name)
			}
		}
	}
	return "", ""
}

// missing names an entry of the channels that is not served, or the one of that name, with the reason.
func (r *request) missing(name string) string {
	for _, c := range r.channels {
		for _, m := range c.Missing {
			if name == "" || m.Name == name {
				return fmt.Sprintf("; %s cannot be used: %s", m.Name, r.whyMissing(c, m.Name))
			}
		}
	}
	return ""
}
