package resolution

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// A catalog that was never read may hold anything. To wait for it would let one mistake in one catalog stop all extensions, so it only counts
// where it is all that is selected, where the extension asks to wait for it, and while it is still being loaded: what is installed first decides
// which catalog is followed, and must not depend on which of them was faster. What is installed stays as it is in any case.

// omission is what catalogs could not give to the choice of a candidate, or to a request without answer.
type omission struct {
	*selection
	chosen *candidate // nil when there is none
	any    bool       // there are candidates
}

func (b *extensionFront) omitted(chosen *candidate) *omission {
	return &omission{b.selection, chosen, len(b.candidates) > 0}
}

// leave notes what cannot be used. What a catalog failed with may be another text at every attempt, and is reported in notes alone.
func (b *omission) leave(r *ExtensionResult) {
	for _, c := range b.unread {
		if !b.mayChange(c) {
			r.Notes = append(r.Notes, fmt.Sprintf("catalog %s has no content (%s); it has a lower priority than catalog %s and cannot change the answer", c.Name, b.trouble(c), r.Catalog))
			continue
		}
		r.Notes = append(r.Notes, fmt.Sprintf("catalog %s has no content (%s), so what it may have does not count", c.Name, b.trouble(c)))
		if !c.loading() && len(r.LeftOut) < maxLeftOut {
			r.LeftOut = append(r.LeftOut, fmt.Sprintf("catalog %s cannot be read, so what it may have does not count: see the conditions of ClusterCatalog %s", c.Name, c.Name))
		}
	}
	if broken := b.leftOut(); broken != "" {
		r.Notes, r.LeftOut = append(r.Notes, broken), append(r.LeftOut, broken)
	}
}

// maxLeftOut is how many catalogs that cannot be read are named.
const maxLeftOut = 3

// leftOut points to what of the package is left out of a catalog because it breaks a rule there, and could have changed the choice; empty when
// nothing is. A channel or a version that is asked for comes before anything else.
func (b *omission) leftOut() string {
	best, text := 0, ""
	for _, c := range b.catalogs {
		if c.Index == nil || !b.mayChange(c) {
			continue
		}
		// The errors that may be about the package. Where the catalog does not have that, files that cannot be read may have held it.
		problems := c.Index.Problems().UnderV1().About(b.in.Package)
		if _, there := b.packageOf(c); !there && len(problems) == 0 && !b.any {
			problems = slices.DeleteFunc(c.Index.Problems().Errors(), func(p catalog.Problem) bool {
				return p.Object.Package != "" || p.Object.Schema == catalog.SchemaPackage && p.Object.Name != ""
			})
		}
		for _, p := range problems {
			if weight := b.weight(c, p); weight > best {
				best, text = weight, fmt.Sprintf("something of the package cannot be used in catalog %s: %s", c.Name, p)
			}
		}
	}
	return text
}

// mayChange reports whether more content of a catalog could change the choice.
func (b *omission) mayChange(c *Catalog) bool {
	return b.chosen == nil || b.chosen.deprecated() || c.Priority >= b.chosen.catalog.Priority
}

// weight is how much a problem matters to the request; 0 when it does not.
func (b *omission) weight(c *Catalog, p catalog.Problem) int {
	info, there := b.packageOf(c)
	if !there {
		return 1 // nothing of it can be used
	}
	switch {
	case p.Object.Schema == catalog.SchemaBundle:
		return b.missed(info, func(u catalog.UnusableEntry) bool { return u.Name == p.Object.Name })
	case p.Rule == catalog.RuleEntryWithoutBundle:
		return b.missed(info, func(u catalog.UnusableEntry) bool {
			return u.Version == nil && slices.Contains(u.Channels, p.Object.Name)
		})
	case p.Rule == catalog.RuleDeprecationDuplicate || p.Rule == catalog.RuleDeprecationMessage:
		if b.chosen != nil && !b.chosen.deprecated() { // what is left out may have named the chosen one
			return 1
		}
	case p.Rule == catalog.RuleEntrySkipRange && b.follows(p.Object.Name) && b.in.Installed != nil && b.in.Policy != SelfCertified:
		return 1
	}
	return 0
}

// missed is how much it matters that some entries have no bundle that can be used: nothing where no channel that is followed has them, the range
// has not their version, or they would come after the chosen one.
func (b *omission) missed(p *catalog.PackageInfo, concerns func(catalog.UnusableEntry) bool) int {
	for _, u := range p.Unusable {
		switch {
		case !concerns(u) || !slices.ContainsFunc(u.Channels, b.follows):
		case u.Version == nil:
			return 2
		case !b.versions.IsZero() && !b.versions.Contains(u.Version.Version):
		case b.chosen == nil || b.chosen.deprecated() || catalog.Released(*u.Version).Compare(b.chosen.version) > 0:
			return 2
		}
	}
	return 0
}
