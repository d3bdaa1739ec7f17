package resolution

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// A catalog that was never read may hold anything. To wait for it would let one mistake in one catalog stop all extensions, so it only counts
// where it is all that is selected, where the extension asks to wait for it, and while it is still being loaded: what is installed first decides
// which catalog is followed, and must not depend on which of them was faster. What is installed stays as it is in any case.

// leave notes what catalogs could not give to the choice of a candidate, or to a request without answer when it is nil. What a catalog failed with
// may be another text at every attempt, and is reported in notes alone.
func (b *extensionFront) leave(r *ExtensionResult, chosen *candidate) {
	for _, c := range b.unread {
		if !mayChange(c, chosen) {
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
func (b *extensionFront) leftOut(chosen *candidate) string {
	best, text := 0, ""
	for _, c := range b.catalogs {
		if c.Index == nil || !mayChange(c, chosen) {
			continue
		}
		// The errors that may be about the package. Where the catalog does not have that, files that cannot be read may have held it.
		problems := c.Index.Problems().UnderV1().About(b.in.Package)
		if _, there := b.packageOf(c); !there && len(problems) == 0 && len(b.candidates) == 0 {
			problems = slices.DeleteFunc(c.Index.Problems().Errors(), func(p catalog.Problem) bool {
				return p.Object.Package != "" || p.Object.Schema == catalog.SchemaPackage && p.Object.Name != ""
			})
		}
		for _, p := range problems {
			if weight := b.weight(c, p, chosen); weight > best {
				best, text = weight, fmt.Sprintf("something of the package cannot be used in catalog %s: %s", c.Name, p)
			}
		}
	}
	return text
}

// mayChange reports whether more content of a catalog could change the choice.
func mayChange(c *Catalog, chosen *candidate) bool {
	return chosen == nil || chosen.deprecated() || c.Priority >= chosen.catalog.Priority
}

// weight is how much a problem matters to the request; 0 when it does not. That entries have no bundle which can be used does not where no channel that
// is followed has them, the range has not their version, or they would come after the chosen one.
func (b *extensionFront) weight(c *Catalog, p catalog.Problem, chosen *candidate) int {
	info, there := b.packageOf(c)
	if !there {
		return 1 // nothing of it can be used
	}
	switch {
	case p.Object.Schema == catalog.SchemaBundle || p.Rule == catalog.RuleEntryWithoutBundle:
		for _, u := range info.Unusable {
			concerned := u.Name == p.Object.Name
			if p.Object.Schema != catalog.SchemaBundle {
				concerned = u.Version == nil && slices.Contains(u.Channels, p.Object.Name)
			}
			switch {
			case !concerned || !slices.ContainsFunc(u.Channels, b.follows):
			case u.Version == nil:
				return 2
			case !b.versions.IsZero() && !b.versions.Contains(u.Version.Version):
			case chosen == nil || chosen.deprecated() || catalog.Released(*u.Version).Compare(chosen.version) > 0:
				return 2
			}
		}
	case p.Rule == catalog.RuleDeprecationDuplicate || p.Rule == catalog.RuleDeprecationMessage:
		if chosen != nil && !chosen.deprecated() { // what is left out may have named the chosen one
			return 1
		}
	case p.Rule == catalog.RuleEntrySkipRange && b.follows(p.Object.Name) && b.in.Installed != nil && b.in.Policy != SelfCertified:
		return 1
	}
	return 0
}
