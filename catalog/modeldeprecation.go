package catalog

import (
	"cmp"
	"fmt"
)

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
			return RuleDeprecationReference, fmt.Sprintf("the reference to the package has the name %s", quote(r.Name)), "remove the name: the package is the one of the deprecations"
		}
	case SchemaChannel:
		if p.channels[r.Name] == nil {
			return RuleDeprecationReference, fmt.Sprintf("the package has no channel %s", quote(r.Name)), "correct the name, or remove the entry"
		}
	case SchemaBundle:
		if p.bundles[r.Name] == nil {
			return RuleDeprecationReference, fmt.Sprintf("the package has no bundle %s", quote(r.Name)), "correct the name, or remove the entry"
		}
	default:
		return RuleDeprecationReference, fmt.Sprintf("objects of schema %s cannot be deprecated", quote(r.Schema)), "set schema to olm.package, olm.channel or olm.bundle"
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
