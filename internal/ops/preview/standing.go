package preview

import (
	"context"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
)

// ExtensionStanding is how a ClusterExtension stands. Its next version is what would be installed now, the allowed one what it comes to when
// each upgrade is done in turn; heads are those of the channels that it follows in the catalogs that it selects, of which the highest counts,
// and the newest version may be in any ClusterCatalog.
type ExtensionStanding struct {
	Extension string `json:"extension"`
	resolution.Standing
	// HeldUntil is when an upgrade window ends what holds it.
	HeldUntil *time.Time `json:"heldUntil,omitempty"`
	Advice    string     `json:"advice,omitempty"`

	holders []string
}

// standing is how the extension stands; again asks further questions.
func (r *ExtensionResolution) standing(ctx context.Context, again flags) (ExtensionStanding, error) {
	// The highest head of the channels that it follows, in the catalogs that it selects.
	// The newest is the highest version of the package in all catalogs, those that it does not select included.
	s := ExtensionStanding{Extension: r.Extension, Standing: resolution.Standing{Package: r.Package, Installed: r.installed}}
	var head, newest *catalog.BundleInfo
	if d, is := r.result.Deprecation, r.request.Installed; d != nil && is != nil {
		s.Support = d.Lifecycle.Support(is.Version, time.Now())
	}
	for _, c := range r.request.Catalogs {
		if c.Index == nil {
			continue
		}
		selected := slices.ContainsFunc(r.Candidates, func(o resolution.Candidate) bool { return o.Catalog == c.Name })
		p, ok := c.Index.PackageV1(r.Package)
		if !ok {
			continue
		}
		for _, channel := range p.Channels {
			if selected && (len(r.request.Channels) == 0 || slices.Contains(r.request.Channels, channel.Name)) {
				head = higher(head, channel.Newest().Bundle)
				s.Head = head.Name
			}
			for _, e := range channel.Entries {
				if b := higher(newest, e.Bundle); b != newest {
					newest, s.Newest, s.NewestIn = b, b.Name, c.Name
				}
			}
		}
	}
	if len(r.Install) > 0 {
		s.Next = r.Install[0].Name
	}
	switch {
	case r.Conflict != nil:
		s.HeldBy, s.Advice = r.Conflict.Summary, r.Conflict.Advice
		s.holders = r.obstacles(r.Conflict.Chain)
	case len(r.held()) > 0:
		h := r.Held[0]
		s.HeldBy, s.Advice = h.Wanted+" cannot be had: "+h.Reason, h.Advice
		s.holders = r.obstacles([]resolution.Link{{Object: h.Object, Field: h.Field}})
	}
	var err error
	if r.installed != "" {
		// Upgrade step by step until nothing better follows.
		in := r.request
		s.Allowed = r.installed
		for seen := map[string]bool{}; !seen[s.Allowed]; {
			seen[s.Allowed] = true
			next, failed := resolveExtension(ctx, in)
			if err = failed; err != nil || next.bundle == nil {
				break
			}
			s.Allowed = next.bundle.Name
			in.Installed = &resolution.Installed{Name: s.Allowed, Version: next.bundle.Version, Properties: next.bundle.Properties}
		}
	}
	if aside := again.aside(s.Standing, "ClusterExtension"); aside != "" {
		s.Advice = aside
	}
	return s, err
}

// obstacles are the objects in the way, or the field of the ClusterExtension itself that is.
func (r *ExtensionResolution) obstacles(chain []resolution.Link) []string {
	found := holders(&resolution.Conflict{Chain: chain}, "ClusterExtension "+r.Extension)
	for i := len(chain) - 1; i >= 0 && len(found) == 0; i-- {
		if field := chain[i].Field; field != "" {
			found = []string{field}
		}
	}
	return found
}

// higher is a bundle when its version is higher than that of the best so far.
func higher(best, b *catalog.BundleInfo) *catalog.BundleInfo {
	if best == nil || catalog.Released(b.Version).Compare(catalog.Released(best.Version)) > 0 {
		return b
	}
	return best
}

// holders are the objects in the way, without the one that asks: of a conflict the last two.
func holders(conflict *resolution.Conflict, asker string) []string {
	if conflict == nil {
		return nil
	}
	var all []string
	for _, link := range conflict.Chain {
		// That there is one operator of a package at a time is nothing that a user could change.
		rule := link.Object == "" || strings.HasPrefix(link.Object, "package ") || strings.EqualFold(link.Object, asker)
		if !rule && !slices.Contains(all, link.Object) {
			all = append(all, link.Object)
		}
	}
	return all[max(0, len(all)-2):]
}
