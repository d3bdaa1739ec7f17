package resolution

import (
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"
)

// candidate is a bundle of the package in a catalog.
type candidate struct {
	v        resolve.Var
	catalog  *Catalog
	bundle   *catalog.BundleInfo
	version  version.VersionRelease // as it is ordered
	all      []string               // channels that it is in, by name
	channels []string               // those of them that are followed
	entries  []*catalog.EntryInfo   // its places in these
	refusals []refusal              // what rules it out, in the order in which the rules are asked
}

func (c *candidate) deprecated() bool { return c.bundle.Deprecation != "" }

// refusal is the first reason that rules a candidate out; nil when it can be had.
func (c *candidate) refusal() *refusal {
	if len(c.refusals) == 0 {
		return nil
	}
	return &c.refusals[0]
}

// fact is a candidate as something that is installed.
func (c *candidate) fact() *fact {
	return &fact{pkg: c.bundle.Package, version: c.bundle.Version.Version, provides: c.bundle.Provides, properties: c.bundle.Properties}
}

// refusalRule is what may rule a candidate out. Rules are asked in this order; an explanation names the first one that does.
type refusalRule int

const (
	ruleChannel refusalRule = iota
	ruleRange
	ruleEdge
	ruleHidden // by a catalog without content
	ruleNeed
	ruleGuard
	ruleKubernetes
)

// refusal is why a candidate cannot be had.
type refusal struct {
	rule   refusalRule
	origin resolve.Origin
	by     string    // the type of the property of a need, or the extension that a guard is for
	lacks  []Missing // what would meet a need; nil when no one has that
}

// follows tells whether an upgrade edge leads from a bundle to the candidate.
func follows(c *candidate, from *Installed) bool {
	for _, e := range c.entries {
		if e.Replaces == from.Name || slices.Contains(e.Skips, from.Name) || e.SkipRange.Contains(from.Version.Version) {
			return true
		}
	}
	return false
}

// inOrder sorts names, each once: a channel may have more than one entry for a bundle.
func inOrder(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// candidates are all bundles of a package in the selected catalogs, the most wanted first.
type candidates []*candidate

// nearest is the most wanted of the candidates that the latest rule refuses.
func (all candidates) nearest() *candidate {
	var found *candidate
	for _, c := range all {
		if found == nil || c.refusal().rule > found.refusal().rule {
			found = c
		}
	}
	return found
}

func (all candidates) channels() []string {
	var names []string
	for _, c := range all {
		names = append(names, c.all...)
	}
	names = inOrder(names)
	slices.SortFunc(names, safetext.Natural)
	return names
}

// Missing is something that another ClusterExtension would have to install before a bundle can be had.
type Missing struct {
	// Packages are those of the selected catalogs that have it; each of them does.
	Packages []string
	// Version is the range that is asked for; empty means any version.
	Version string
}

// missing is what the most wanted candidate lacks, of those that lack nothing else; none where catalogs cannot help with a part of it.
func (all candidates) missing() []Missing {
	for _, c := range all {
		if len(c.refusals) == 0 {
			return nil
		}
		var lacks []Missing
		for _, r := range c.refusals {
			if r.rule != ruleNeed || r.lacks == nil {
				lacks = nil
				break
			}
			lacks = append(lacks, r.lacks...)
		}
		if len(lacks) > 0 {
			return once(lacks)
		}
	}
	return nil
}

// once leaves out what asks for any version of a package of which another need asks for certain ones: the same ClusterExtension is meant.
func once(all []Missing) []Missing {
	var out []Missing
	for i, m := range all {
		met := slices.ContainsFunc(all, func(other Missing) bool {
			return other.Version != "" && len(other.Packages) == 1 && slices.Contains(m.Packages, other.Packages[0])
		})
		repeated := slices.ContainsFunc(all[:i], func(earlier Missing) bool {
			return earlier.Version == m.Version && slices.Equal(earlier.Packages, m.Packages)
		})
		if m.Version == "" && met || repeated {
			continue
		}
		out = append(out, m)
	}
	return out
}
