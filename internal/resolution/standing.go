package resolution

import (
	"slices"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// Standing compares what a user has of a package with what there is.
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
	// Support is how long what is installed is supported, by the catalog that it is to come from.
	Support catalog.Support `json:"support,omitzero"`
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

// Standings compares every Subscription, in the order of their names, at a time.
func (r *NamespaceResult) Standings(at time.Time) []SubscriptionStanding {
	var all []SubscriptionStanding
	for _, q := range r.b.requests {
		s := SubscriptionStanding{Subscription: q.sub.Name, Standing: Standing{Package: q.sub.Package, Allowed: q.allowed()}}
		if q.installed != nil {
			s.Installed = q.installed.Name
		}
		if len(q.channels) > 0 {
			s.Head = q.channels[0].Head
		}
		// The highest version of the package anywhere in view, and the catalog; of equal ones the first in the order of catalogs.
		var best *catalog.BundleInfo
		for _, source := range r.b.sourcesFor(nil) {
			if source.Index == nil {
				continue
			}
			if q.installed != nil && source.Ref == q.sub.Catalog {
				lifecycle, _ := source.Index.Lifecycle(q.sub.Package) // what cannot be read says nothing; the condition Supported tells why
				s.Support = lifecycle.Support(version.VersionRelease{Version: q.installed.Version}, at)
			}
			for _, bundle := range bundlesOf(source.Index, q.sub.Package) {
				if best == nil || bundle.Version.Compare(best.Version) > 0 {
					best, s.Newest, s.NewestIn = bundle, bundle.Name, source.Ref.String()
				}
			}
		}
		for i := range r.Groups {
			if g := &r.Groups[i]; slices.Contains(g.Subscriptions, q.sub.Name) {
				if g.Err != nil {
					s.HeldBy = oneLine(g.conflict().Summary)
				}
				for _, c := range g.Choices {
					if slices.Contains(c.Subscriptions, s.Subscription) {
						s.Next = c.Bundle.Name
					}
				}
				if h := slices.IndexFunc(g.Held, func(h Held) bool { return h.Subscription == s.Subscription }); h >= 0 && s.HeldBy == "" {
					s.HeldBy = g.Held[h].Reason
				}
			}
		}
		all = append(all, s)
	}
	return all
}
