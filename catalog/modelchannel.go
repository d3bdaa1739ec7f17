package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/version"
)

func (m *model) addChannel(c *Channel) {
	o := Object{Schema: SchemaChannel, Package: c.Package, Name: c.Name}
	report := func(rule Rule, message, fix string) { m.report(Error, rule, o, c.Position, message, fix) }
	p, ok := m.packages[c.Package]
	switch {
	case c.Package == "":
		report(RuleChannelPackage, "the channel does not say to which package it belongs", "set package")
		return
	case !ok:
		report(RuleChannelPackage, "there is no such package", "correct package, or add an olm.package object with that name")
		return
	case c.Name == "":
		report(RuleChannelName, "the channel has no name", "set name")
		return
	}
	if first, ok := p.channels[c.Name]; ok {
		first.broken = true
		report(RuleChannelDuplicate, "the channel is already defined"+at(first.source.Position), "merge the two")
		for i := range c.Entries {
			if c.Entries[i].Name != "" {
				first.more = append(first.more, entryInfo(&c.Entries[i], func(Rule, string, string) {}))
			}
		}
		return
	}
	added := &channelModel{source: c, entries: make(map[string]*EntryInfo, len(c.Entries))}
	p.channels[c.Name] = added
	p.order = append(p.order, added)
	if len(added.source.Entries) == 0 {
		added.broken = true
		report(RuleChannelEmpty, "the channel has no entries", "add an entry for each bundle of the channel, or remove the channel")
		return
	}
	for i := range added.source.Entries {
		e := &added.source.Entries[i]
		switch {
		case e.Name == "":
			added.broken = true
			report(RuleEntryName, fmt.Sprintf("entries[%d] has no name", i), "set name to that of a bundle")
		case added.entries[e.Name] != nil:
			added.broken = true
			report(RuleEntryDuplicate, fmt.Sprintf("there is more than one entry %s", safetext.Quote(e.Name)), "merge them into one")
			added.more = append(added.more, entryInfo(e, report))
		default:
			added.entries[e.Name] = entryInfo(e, report)
		}
	}
	added.graph = newGraph(added.source.Entries)
	added.broken = added.graph.check(report) || added.broken
}

// entryInfo reads an entry, without what is wrong with it.
func entryInfo(e *Entry, report func(Rule, string, string)) *EntryInfo {
	info := &EntryInfo{Name: e.Name, Replaces: e.Replaces, Skips: e.Skips}
	if i := slices.Index(e.Skips, ""); i >= 0 {
		report(RuleEntrySkipEmpty, fmt.Sprintf("skips[%d] of entry %s is empty", i, safetext.Quote(e.Name)), "name a bundle, or remove it")
		info.Skips = slices.DeleteFunc(slices.Clone(e.Skips), func(s string) bool { return s == "" })
	}
	if e.SkipRange != "" {
		var err error
		if info.SkipRange, err = version.ParseRange(e.SkipRange); err != nil {
			report(RuleEntrySkipRange, fmt.Sprintf("skipRange of entry %s: %v", safetext.Quote(e.Name), err), "write a range such as \">=1.0.0 <1.2.0\"")
		}
	}
	return info
}

func (m *model) addDeprecations(d *Deprecations) {
	o := Object{Schema: SchemaDeprecations, Package: d.Package}
	report := func(rule Rule, message, fix string) { m.report(Error, rule, o, d.Position, message, fix) }
	p, ok := m.packages[d.Package]
	switch {
	case d.Package == "":
		report(RuleDeprecationPackage, "the deprecations do not say to which package they belong", "set package")
		return
	case !ok:
		report(RuleDeprecationPackage, "there is no such package", "correct package, or remove the deprecations")
		return
	case p.deprecated != nil:
		report(RuleDeprecationDuplicate, "the package already has deprecations"+at(p.deprecated.Position), "merge the two")
		return
	}
	p.deprecated = d
	for i, e := range d.Entries {
		if rule, message, fix := p.addDeprecation(e); message != "" {
			report(rule, fmt.Sprintf("entries[%d]: %s", i, message), fix)
		}
	}
}

// addDeprecation records an entry, or says what is wrong with it.
func (p *packageModel) addDeprecation(e Deprecation) (rule Rule, message, fix string) {
	r := e.Reference
	switch r.Schema {
	case "":
		return RuleDeprecationReference, "the reference has no schema", "set schema to olm.package, olm.channel or olm.bundle"
	case SchemaPackage:
		if r.Name != "" {
			return RuleDeprecationReference, fmt.Sprintf("the reference to the package has the name %s", safetext.Quote(r.Name)), "remove the name: the package is the one of the deprecations"
		}
	case SchemaChannel:
		if p.channels[r.Name] == nil {
			return RuleDeprecationReference, fmt.Sprintf("the package has no channel %s", safetext.Quote(r.Name)), "correct the name, or remove the entry"
		}
	case SchemaBundle:
		if p.bundles[r.Name] == nil {
			return RuleDeprecationReference, fmt.Sprintf("the package has no bundle %s", safetext.Quote(r.Name)), "correct the name, or remove the entry"
		}
	default:
		return RuleDeprecationReference, fmt.Sprintf("objects of schema %s cannot be deprecated", safetext.Quote(r.Schema)), "set schema to olm.package, olm.channel or olm.bundle"
	}
	if _, ok := p.reasons[r]; ok {
		o := Object{Schema: r.Schema, Name: cmp.Or(r.Name, p.source.Name)}
		return RuleDeprecationReference, fmt.Sprintf("the %s is already deprecated", o), "keep one of the entries"
	}
	if e.Message == "" {
		return RuleDeprecationMessage, "there is no message", "say why it is deprecated and what to use instead"
	}
	p.reasons[r] = e.Message
	return "", "", ""
}
