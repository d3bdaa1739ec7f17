package plan

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"
)

// edge is the way in which an entry upgrades an installed operator.
type edge string

const (
	noEdge        edge = ""
	edgeReplaces  edge = "replaces"
	edgeSkips     edge = "skips"
	edgeSkipRange edge = "skipRange"
)

// departure is what an upgrade starts from.
type departure struct {
	name    string
	version version.VersionRelease
}

// departure of what a request has installed. Its release is in its version, or only in the catalog.
func (r *request) departure() departure {
	d := departure{r.installed.Name, version.VersionRelease{Version: r.installed.Version}}
	if r.source != nil && r.source.Index != nil {
		if bundle, ok := r.source.Index.Bundle(r.sub.Package, d.name); ok && bundle.Version.Version.EQ(d.version.Version) {
			d.version = bundle.Version
		}
	}
	return d
}

// edgeTo tells how the entry upgrades from there, if it does. Which edge it is makes no difference to what is preferred: the entry nearer
// to the head is. Back to an older version leads only what names it: a skipRange without an upper end would take the head back for ever.
func edgeTo(e *catalog.EntryInfo, from departure) edge {
	switch {
	case !e.InChain || e.Name == from.name:
		return noEdge
	case e.Replaces == from.name:
		return edgeReplaces
	case slices.Contains(e.Skips, from.name):
		return edgeSkips
	case e.SkipRange.Contains(from.version.Version) && !from.isBack(e):
		return edgeSkipRange
	}
	return noEdge
}

// isBack tells whether the entry is older. Of the same version, the release decides, however it is written.
func (d departure) isBack(to *catalog.EntryInfo) bool {
	return released(to.Bundle.Version).Compare(released(d.version)) < 0
}

func released(v version.VersionRelease) version.VersionRelease {
	if len(v.Release) > 0 {
		return v
	}
	return version.FromBuild(v.Version)
}

// refusesBack tells whether the only way to the entry would be a skipRange that leads back.
func (d departure) refusesBack(to *catalog.EntryInfo) bool {
	return to.InChain && edgeTo(to, d) == noEdge && to.Name != d.name && to.SkipRange.Contains(d.version.Version)
}

// upgrades returns the entries that may take over from what is installed, the preferred one first: those of the catalog that the
// Subscription names, from the head of each channel down, and, where that is switched on, those of the other catalogs in view, first
// the heads that skip what is installed, then what else upgrades it.
func (b *builder) upgrades(r *request) []resolve.Var {
	var found []resolve.Var
	from := r.departure()
	for _, c := range r.channels {
		for place, e := range c.Entries {
			if edgeTo(e, from) != noEdge {
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
	from := r.departure()
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
				if way := edgeTo(e, from); way != noEdge && fits(place, way) {
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
	return fmt.Sprintf("no entry of channel %s of package %s upgrades from the installed %s: none replaces or skips it, and no skipRange of a newer one contains its version %s; "+
		"the channel head is %s: follow a channel that has %s, or delete ClusterServiceVersion %s to have the head installed in its place",
		c.Name, r.sub.Package, r.installed.Name, r.installed.Version, c.Head, r.installed.Name, r.installed.Name)
}
