package extension

import (
	"fmt"
	"slices"
)

// A catalog that was never read may hold anything. To wait for it would let one mistake in one catalog stop all extensions, so it only counts
// where it is all that is selected, where the extension asks to wait for it, and while it is still being loaded: what is installed first decides
// which catalog is followed, and must not depend on which of them was faster. What is installed stays as it is in any case.

// IsLoading reports whether a catalog that the request selects is still being loaded.
func IsLoading(in Request) bool {
	b := &builder{in: in.canonical()}
	return b.choose() == nil && slices.ContainsFunc(b.catalogs, (*Catalog).loading)
}

// trouble is why nothing of a catalog can be used; empty when it can, or when it does not have the package.
func (b *builder) trouble(c *Catalog) string {
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
func (b *builder) unavailable() *Catalog {
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
func (b *builder) keepsInSpite(c *Conflict) bool {
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
func (b *builder) kept() *Result {
	r := b.result(nil)
	r.Change = Keep
	b.leave(r, nil)
	return r
}

// leave notes what cannot be used. What a catalog failed with may be another text at every attempt, and is reported in notes alone.
func (b *builder) leave(r *Result, chosen *candidate) {
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
