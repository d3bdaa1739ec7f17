package resolution

import (
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// Standing compares what somebody has of a package with what there is.
type Standing struct {
	Package   string `json:"package"`
	Installed string `json:"installed,omitempty"`
	// Next is what the decision installs in its place.
	Next string `json:"next,omitempty"`
	// Allowed is where the upgrade edges of the channels that are followed lead to in the end.
	Allowed string `json:"allowed,omitempty"`
	// Head is the head of the channel that is followed; of several, of the preferred one.
	Head string `json:"head,omitempty"`
	// Newest is the highest version of the package in any channel of any catalog in view, and NewestIn that catalog.
	Newest   string `json:"newest,omitempty"`
	NewestIn string `json:"newestIn,omitempty"`
	// HeldBy says what is in the way of something newer.
	HeldBy string `json:"heldBy,omitempty"`
}

// Behind tells whether there is anything newer, or anything to install.
func (s *Standing) Behind() bool {
	return s.Next != "" || s.HeldBy != "" || s.Newest != "" && s.Newest != s.Installed
}

// Aside tells whether the newest version is where nothing leads to.
func (s *Standing) Aside() bool {
	return s.HeldBy == "" && s.Newest != "" && s.Newest != s.Allowed && s.Newest != s.Next && s.Newest != s.Installed
}

// SubscriptionStanding is how a Subscription stands.
type SubscriptionStanding struct {
	Subscription string `json:"subscription"`
	Standing
}

// Standings compares every Subscription, in the order of their names.
func (r *NamespaceResult) Standings() []SubscriptionStanding {
	var all []SubscriptionStanding
	for _, q := range r.b.requests {
		s := SubscriptionStanding{Subscription: q.sub.Name, Standing: Standing{Package: q.sub.Package, Allowed: q.allowed()}}
		if q.installed != nil {
			s.Installed = q.installed.Name
		}
		if len(q.channels) > 0 {
			s.Head = q.channels[0].Head
		}
		s.Newest, s.NewestIn = r.b.newest(q.sub.Package)
		for i := range r.Groups {
			if g := &r.Groups[i]; slices.Contains(g.Subscriptions, q.sub.Name) {
				g.stand(&s)
			}
		}
		all = append(all, s)
	}
	return all
}

// stand fills in what the decision of a group says.
func (g *Group) stand(s *SubscriptionStanding) {
	if g.Err != nil {
		s.HeldBy = g.summary()
	}
	for _, c := range g.Choices {
		if slices.Contains(c.Subscriptions, s.Subscription) {
			s.Next = c.Bundle.Name
		}
	}
	for _, h := range g.Held {
		if h.Subscription == s.Subscription && s.HeldBy == "" {
			s.HeldBy = h.Reason
		}
	}
}

// allowed follows the upgrade edges from what is installed, each time to the entry that is preferred.
func (q *request) allowed() string {
	if q.installed == nil {
		return ""
	}
	at := q.departure()
	for seen := map[string]bool{}; !seen[at.Name]; {
		seen[at.Name] = true
		if e := q.step(at); e != nil {
			at = catalog.Departure{Name: e.Name, Version: &e.Bundle.Version}
		}
	}
	return at.Name
}

// step returns the preferred entry that upgrades from there, or nil.
func (q *request) step(from catalog.Departure) *catalog.EntryInfo {
	for _, c := range q.channels {
		for _, e := range c.Entries {
			if e.EdgeFrom(from) != catalog.NoEdge && !e.Bundle.Deprecated && !q.limit.refuses(e.Bundle.Version.Version) {
				return e
			}
		}
	}
	return nil
}

// newest returns the highest version of a package anywhere in view, and the catalog; of equal ones the first in the order of catalogs.
func (b *namespaceBuilder) newest(pkg string) (name, in string) {
	var best *catalog.BundleInfo
	for _, s := range b.sourcesFor(nil) {
		if s.Index == nil {
			continue
		}
		for _, bundle := range bundlesOf(s.Index, pkg) {
			if best == nil || bundle.Version.Compare(best.Version) > 0 {
				best, in = bundle, s.Ref.String()
			}
		}
	}
	if best == nil {
		return "", ""
	}
	return best.Name, in
}
