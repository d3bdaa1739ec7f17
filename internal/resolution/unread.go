package resolution

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// A catalog that was never read may hold anything. To wait for it would let one mistake in one catalog stop all extensions, so it only counts
// where it is all that is selected, where the extension asks to wait for it, and while it is still being loaded: what is installed first decides
// which catalog is followed, and must not depend on which of them was faster. What is installed stays as it is in any case.

// IsLoading reports whether a catalog that the request selects is still being loaded.
func IsLoading(in ExtensionRequest) bool {
	b := &extensionBuilder{in: in.canonical()}
	return b.choose() == nil && slices.ContainsFunc(b.catalogs, (*Catalog).loading)
}

// trouble is why nothing of a catalog can be used; empty when it can, or when it does not have the package.
func (b *extensionBuilder) trouble(c *Catalog) string {
	if c.Index == nil {
		return c.problem()
	}
	if !b.in.RequireAll {
		return ""
	}
	if _, there := b.packageOf(c); there {
		return ""
	}
	broken := c.Index.Problems().About(b.in.Package)
	if len(broken) == 0 {
		return ""
	}
	return "nothing of the package can be used: " + broken[0].String()
}

// unavailable is the catalog that explanations name when there is no answer; nil when all selected ones can be used.
func (b *extensionBuilder) unavailable() *Catalog {
	switch {
	case b.blind != nil:
		return b.blind
	case len(b.unread) > 0:
		return b.unread[0]
	}
	return nil
}

// keepsInSpite reports whether what is installed stays, although there is no answer: it is what is asked for, and what could have led on from it
// cannot be used. No mistake in a catalog is one of the extension.
func (b *extensionBuilder) keepsInSpite(c *Conflict) bool {
	if b.in.Installed == nil || b.in.RequireAll || !b.suffices() {
		return false
	}
	switch c.Reason {
	case CatalogUnavailable:
		return true
	case PackageNotFound, ChannelNotFound, VersionNotFound, NoSuccessor, DowngradeRefused:
		return b.leftOut(nil) != ""
	}
	return false
}

// kept is the result when what is installed stays in spite of what catalogs cannot offer.
func (b *extensionBuilder) kept() *ExtensionResult {
	r := b.result(nil)
	r.Change = ChangeKeep
	b.leave(r, nil)
	return r
}

// leave notes what cannot be used. What a catalog failed with may be another text at every attempt, and is reported in notes alone.
func (b *extensionBuilder) leave(r *ExtensionResult, chosen *candidate) {
	for _, c := range b.unread {
		if !b.mayChange(c, chosen) {
			r.Notes = append(r.Notes, fmt.Sprintf("catalog %s has no content (%s); it has a lower priority than catalog %s and cannot change the answer", c.Name, b.trouble(c), r.Catalog))
			continue
		}
		r.Notes = append(r.Notes, fmt.Sprintf("catalog %s has no content (%s), so what it may have does not count", c.Name, b.trouble(c)))
		if !c.loading() && len(r.LeftOut) < maxLeftOut {
			r.LeftOut = append(r.LeftOut, fmt.Sprintf("catalog %s cannot be read, so what it may have does not count: see the conditions of ClusterCatalog %s", c.Name, c.Name))
		}
	}
	if broken := b.leftOut(chosen); broken != "" {
		r.Notes, r.LeftOut = append(r.Notes, broken), append(r.LeftOut, broken)
	}
}

// maxLeftOut is how many catalogs that cannot be read are named.
const maxLeftOut = 3

// leftOut points to what of the package is left out of a catalog because it breaks a rule there, and could have changed the choice; empty when
// nothing is. A channel or a version that is asked for comes before anything else.
func (b *extensionBuilder) leftOut(chosen *candidate) string {
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
func (b *extensionBuilder) problemsOf(c *Catalog) catalog.Problems {
	about := c.Index.Problems().UnderV1().About(b.in.Package)
	if _, there := b.packageOf(c); there || len(about) > 0 || len(b.candidates) > 0 {
		return about
	}
	return slices.DeleteFunc(c.Index.Problems().Errors(), func(p catalog.Problem) bool {
		return p.Object.Package != "" || p.Object.Schema == catalog.SchemaPackage && p.Object.Name != ""
	})
}

// mayChange reports whether more content of a catalog could change the choice.
func (b *extensionBuilder) mayChange(c *Catalog, chosen *candidate) bool {
	return chosen == nil || chosen.deprecated() || c.Priority >= chosen.catalog.Priority
}

// weight is how much a problem matters to the request; 0 when it does not.
func (b *extensionBuilder) weight(c *Catalog, p catalog.Problem, chosen *candidate) int {
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
func (b *extensionBuilder) missed(p *catalog.PackageInfo, chosen *candidate, concerns func(catalog.UnusableEntry) bool) int {
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
