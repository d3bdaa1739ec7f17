package extension

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// leftOut points to what of the package is left out of a catalog because it breaks a rule there, and could have changed the choice; empty when
// nothing is. A channel or a version that is asked for comes before anything else.
func (b *builder) leftOut(chosen *candidate) string {
	best, text := 0, ""
	for _, c := range b.catalogs {
		if c.Index == nil || !b.mayChange(c, chosen) {
			continue
		}
		for _, p := range b.problemsOf(c) {
			if weight := b.weight(c, p, chosen); weight > best {
				best, text = weight, fmt.Sprintf("something of the package cannot be used in catalog %s: %s", c.Name, p)
			}
		}
	}
	return text
}

// problemsOf are the errors that may be about the package. Where the catalog does not have that, files that cannot be read may have held it.
func (b *builder) problemsOf(c *Catalog) catalog.Problems {
	about := c.Index.Problems().UnderV1().About(b.in.Package)
	if _, there := b.packageOf(c); there || len(about) > 0 || len(b.candidates) > 0 {
		return about
	}
	return slices.DeleteFunc(c.Index.Problems().Errors(), func(p catalog.Problem) bool {
		return p.Object.Package != "" || p.Object.Schema == catalog.SchemaPackage && p.Object.Name != ""
	})
}

// mayChange reports whether more content of a catalog could change the choice.
func (b *builder) mayChange(c *Catalog, chosen *candidate) bool {
	return chosen == nil || chosen.deprecated() || c.Priority >= chosen.catalog.Priority
}

// weight is how much a problem matters to the request; 0 when it does not.
func (b *builder) weight(c *Catalog, p catalog.Problem, chosen *candidate) int {
	info, there := b.packageOf(c)
	if !there {
		return 1 // nothing of it can be used
	}
	switch {
	case p.Object.Schema == catalog.SchemaBundle:
		return b.missed(info, chosen, func(u catalog.UnusableEntry) bool { return u.Name == p.Object.Name })
	case p.Rule == catalog.RuleEntryWithoutBundle:
		return b.missed(info, chosen, func(u catalog.UnusableEntry) bool {
			return u.Version == nil && slices.Contains(u.Channels, p.Object.Name)
		})
	case p.Rule == catalog.RuleDeprecationDuplicate || p.Rule == catalog.RuleDeprecationMessage:
		if chosen != nil && !chosen.deprecated() { // what is left out may have named the chosen one
			return 1
		}
	case p.Rule == catalog.RuleEntrySkipRange && b.follows(p.Object.Name) && b.in.Installed != nil && b.in.Policy != SelfCertified:
		return 1
	}
	return 0
}

// missed is how much it matters that some entries have no bundle that can be used: nothing where no channel that is followed has them, the range
// has not their version, or they would come after the chosen one.
func (b *builder) missed(p *catalog.PackageInfo, chosen *candidate, concerns func(catalog.UnusableEntry) bool) int {
	for _, u := range p.Unusable {
		switch {
		case !concerns(u) || !slices.ContainsFunc(u.Channels, b.follows):
		case u.Version == nil:
			return 2
		case !b.versions.IsZero() && !b.versions.Contains(u.Version.Version):
		case chosen == nil || chosen.deprecated() || catalog.Released(*u.Version).Compare(chosen.version) > 0:
			return 2
		}
	}
	return 0
}
