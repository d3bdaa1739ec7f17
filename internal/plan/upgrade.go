package plan

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// edge is the way in which an entry upgrades an installed operator.
type edge string

const (
	noEdge        edge = ""
	edgeReplaces  edge = "replaces"
	edgeSkips     edge = "skips"
	edgeSkipRange edge = "skipRange"
)

// edgeTo tells how the entry upgrades the installed operator, if it does. Which edge it is makes no difference to what is preferred: the
// entry nearer to the head is.
func edgeTo(e *catalog.EntryInfo, installed *Operator) edge {
	switch {
	case !e.InChain || e.Name == installed.Name:
		return noEdge
	case e.Replaces == installed.Name:
		return edgeReplaces
	case slices.Contains(e.Skips, installed.Name):
		return edgeSkips
	case !e.SkipRange.IsZero() && e.SkipRange.Contains(installed.Version):
		return edgeSkipRange
	}
	return noEdge
}

// upgrades returns the entries that may take over from what is installed, the preferred one first: those of the catalog that the
// Subscription names, from the head of each channel down, and, where that is switched on, those of the other catalogs in view, first
// the heads that skip what is installed, then what else upgrades it.
func (b *builder) upgrades(r *request) []resolve.Var {
	var found []resolve.Var
	for _, c := range r.channels {
		for place, e := range c.Entries {
			if edgeTo(e, r.installed) != noEdge {
				found = append(found, b.entry(r.source, c, place))
			}
		}
	}
	if b.in.AnyCatalog {
		found = append(found, b.elsewhere(r, func(place int, way edge) bool { return place == 0 && way != edgeReplaces })...)
		found = append(found, b.elsewhere(r, func(place int, way edge) bool { return place != 0 || way == edgeReplaces })...)
	}
	if len(found) > 0 && !r.installed.Settled { // an operator that does not run yet is not replaced
		if r.installed.Failed {
			r.waits = fmt.Sprintf("%s is available, but the installed %s has failed and a failed operator is not replaced: repair it, or set "+
				"spec.upgradeStrategy of the OperatorGroup to TechPreviewUnsafeFailForward", b.node(found[0]).name(), r.installed.Name)
		}
		return nil
	}
	if len(found) == 0 {
		r.waits = stranded(r)
	}
	return found
}

// elsewhere returns the entries of other catalogs that upgrade what is installed in the way that fits.
func (b *builder) elsewhere(r *request, fits func(place int, way edge) bool) []resolve.Var {
	var found []resolve.Var
	for _, s := range b.sourcesFor(nil) {
		if s == r.source || s.Index == nil {
			continue
		}
		p, ok := s.Index.Package(r.sub.Package)
		if !ok {
			continue
		}
		for _, c := range followed(p, r.sub.Channel) {
			for place, e := range c.Entries {
				if way := edgeTo(e, r.installed); way != noEdge && fits(place, way) {
					found = append(found, b.entry(s, c, place))
				}
			}
		}
	}
	return found
}

// stranded says that nothing leads from what is installed to the channel head; empty when it is the head, or when there is no catalog to
// tell.
func stranded(r *request) string {
	for _, c := range r.channels {
		if c.Head == r.installed.Name {
			return ""
		}
	}
	if len(r.channels) == 0 {
		return r.waits
	}
	c := r.channels[0]
	return fmt.Sprintf("no entry of channel %s of package %s upgrades from the installed %s: none replaces or skips it, and no skipRange contains its version %s; "+
		"the channel head is %s: follow a channel that has %s, or delete ClusterServiceVersion %s to have the head installed in its place",
		c.Name, r.sub.Package, r.installed.Name, r.installed.Version, c.Head, r.installed.Name, r.installed.Name)
}
