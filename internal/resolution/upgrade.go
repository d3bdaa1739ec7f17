package resolution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"

	"k8s.io/apimachinery/pkg/util/sets"
)

// departure of what a request has installed. Its release is in its version, or only in the catalog.
func (r *request) departure() catalog.Departure {
	d := catalog.Departure{Name: r.installed.Name, Version: &version.VersionRelease{Version: r.installed.Version}}
	if r.source != nil && r.source.Index != nil {
		if bundle, ok := r.source.Index.Bundle(r.sub.Package, d.Name); ok && bundle.Version.Version.EQ(d.Version.Version) {
			d.Version = &bundle.Version
		}
	}
	return d
}

// upgrades returns the entries that may succeed what is installed, the preferred one first: those of the catalog that the
// Subscription names, from the head of each channel down, and, where that is switched on, those of the other catalogs in view, first
// the heads that skip what is installed, then what else upgrades it.
func (b *subscriptions) upgrades(r *request) []resolve.Var {
	var found []resolve.Var
	from := r.departure()
	for _, c := range r.channels {
		for place, e := range c.Entries {
			if e.EdgeFrom(from) != catalog.NoEdge {
				found = append(found, b.entry(r.source, c, place))
			}
		}
	}
	if b.in.AnyCatalog {
		found = append(found, b.elsewhere(r, func(place int, way catalog.Edge) bool { return place == 0 && way != catalog.EdgeReplaces })...)
		found = append(found, b.elsewhere(r, func(place int, way catalog.Edge) bool { return place != 0 || way == catalog.EdgeReplaces })...)
	}
	// The first entry that the range of the Subscription allows, of several one that is not deprecated; none when it allows none, so that it is the range
	// that holds.
	var next resolve.Var
	for _, v := range found {
		if bundle := b.node(v).bundle; (next == 0 || !bundle.Deprecated) && !r.limit.refuses(bundle.Version.Version) {
			next = v
			if !bundle.Deprecated {
				break
			}
		}
	}
	if name := r.installed.Name; next != 0 && !r.installed.Settled { // an operator that does not run yet is not replaced
		r.awaiting = next
		r.waits = fmt.Sprintf("%s does not run (its phase is %s), and an operator that does not run is not replaced: upgrades, which lead to %s, wait until it does; "+
			"to see what keeps it: kubectl describe clusterserviceversion %s -n %s", name, cmp.Or(r.installed.Phase, "none yet"), r.allowed(), name, b.in.Namespace)
		if r.installed.Failed {
			r.waits = fmt.Sprintf("%s is available, but the installed %s has failed and a failed operator is not replaced: repair it, or set "+
				"spec.upgradeStrategy of the OperatorGroup to TechPreviewUnsafeFailForward", b.node(next).bundle.Name, name)
		}
		return nil
	}
	if len(found) == 0 {
		r.waits = stranded(r)
	}
	return found
}

// elsewhere returns the entries of other catalogs that upgrade what is installed in the way that fits.
func (b *subscriptions) elsewhere(r *request, fits func(place int, way catalog.Edge) bool) []resolve.Var {
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
				if way := e.EdgeFrom(from); way != catalog.NoEdge && fits(place, way) {
					found = append(found, b.entry(s, c, place))
				}
			}
		}
	}
	return found
}

// installed returns the operator that the Subscription stands for. A Subscription that was deleted and made again adopts the
// operator of its package that no one else claims, when its catalog has the same content under that name.
func (b *subscriptions) installed(s *Subscription, source *Source) *Operator {
	if o := b.operators[s.Installed]; o != nil {
		return o
	}
	// The recorded operator may have been replaced in the meantime.
	for _, o := range b.order {
		if s.Installed != "" && o.Replaces == s.Installed {
			return o
		}
	}
	for _, o := range b.order {
		if o.isOf(s.Package) && !slices.ContainsFunc(b.in.Subscriptions, func(other Subscription) bool { return other.Installed == o.Name }) &&
			disagreement(o, s, source) == "" {
			return o
		}
	}
	return nil
}

// isOf tells whether the operator is, or for all that is known may be, of a package.
func (o *Operator) isOf(pkg string) bool { return o.Package == pkg || o.Package == "" }

// deprecated operators may not stay once there is something else.
func (o *Operator) deprecated() bool {
	return slices.ContainsFunc(o.Properties, func(p catalog.Property) bool { return p.Type == catalog.PropertyDeprecated })
}

// disagreement says why an operator is not what the catalog of a Subscription has under its name; empty when it is.
func disagreement(o *Operator, s *Subscription, source *Source) string {
	if source == nil || source.Index == nil {
		return fmt.Sprintf("catalog %s has no content to compare it with", s.Catalog)
	}
	known, ok := source.Index.Bundle(s.Package, o.Name)
	switch {
	case !ok:
		return fmt.Sprintf("package %s of catalog %s has no bundle of that name", s.Package, s.Catalog)
	case !known.Version.Version.Equals(o.Version):
		return fmt.Sprintf("it has version %s, and version %s in catalog %s", o.Version, known.VersionText, s.Catalog)
	case !sets.New(o.Provides...).Equal(sets.New(known.Provides...)):
		return fmt.Sprintf("it provides other APIs than the bundle of that name in catalog %s", s.Catalog)
	}
	return ""
}

// orphan states that an operator which no Subscription stands for stays.
func (b *subscriptions) orphan(v resolve.Var, o *Operator) {
	origin := b.node(v).origin("", "clusterserviceversion %s exists and is not referenced by a subscription", o.Name)
	remove := fmt.Sprintf("kubectl delete clusterserviceversion %s -n %s", o.Name, b.in.Namespace)
	for _, r := range b.requests {
		if o.isOf(r.sub.Package) && o.Package != "" && r.installed == nil {
			origin.Text += fmt.Sprintf("; subscription %s does not take it over: %s", r.sub.Name, disagreement(o, r.sub, r.source))
			origin.Hint = fmt.Sprintf("to have subscription %s start over: %s", r.sub.Name, remove)
			break
		}
	}
	b.problem.Require(v, origin)
}

// allowed follows the upgrade edges from what is installed, each time to the entry that is preferred.
func (q *request) allowed() string {
	if q.installed == nil {
		return ""
	}
	at := q.departure()
	for seen := map[string]bool{}; !seen[at.Name]; {
		seen[at.Name] = true
		var next *catalog.EntryInfo // the preferred entry that upgrades from there
		for _, c := range q.channels {
			if i := slices.IndexFunc(c.Entries, func(e *catalog.EntryInfo) bool {
				return e.EdgeFrom(at) != catalog.NoEdge && !e.Bundle.Deprecated && !q.limit.refuses(e.Bundle.Version.Version)
			}); i >= 0 {
				next = c.Entries[i]
				break
			}
		}
		if next != nil {
			at = catalog.Departure{Name: next.Name, Version: &next.Bundle.Version}
		}
	}
	return at.Name
}

// stranded says that nothing leads from what is installed to the channel head; empty when it is the head, or when there is no catalog to
// tell.
func stranded(r *request) string {
	if len(r.channels) == 0 {
		return r.waits
	}
	if slices.ContainsFunc(r.channels, func(c *catalog.ChannelInfo) bool { return c.Head == r.installed.Name }) {
		return ""
	}
	return fmt.Sprintf("no entry of channel %s of package %s upgrades from the installed %s: none replaces or skips it, and no skipRange of a newer one contains its version %s",
		strings.Join(channelNames(r.channels), ", "), r.sub.Package, r.installed.Name, r.installed.Version)
}
