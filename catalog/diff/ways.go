package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// loss is something that lost its way to the head.
type loss struct {
	breaking        bool
	bundle, message string
}

// mostChecks bounds the versions that are held against skipRanges, for a
// channel.
const mostChecks = 5_000_000

// lostWays are the versions that a Subscription to a channel was upgraded from,
// and is not any more: the entries, what the entries name beside them, and what
// only a skipRange covers. These are not in the channel, but may be installed.
func lostWays(pkg *catalog.PackageInfo, old, now *catalog.ChannelInfo) []loss {
	was, is := newWays(old), newWays(now)
	var lost []loss
	for _, e := range slices.SortedFunc(slices.Values(old.Entries), func(a, b *catalog.EntryInfo) int {
		return cmp.Or(a.Bundle.Version.Compare(b.Bundle.Version), strings.Compare(a.Name, b.Name))
	}) {
		if was.leadOn(e.Name, &e.Bundle.Version) && !is.leadOn(e.Name, &e.Bundle.Version) {
			lost = append(lost, loss{true, e.Name, "upgrade path lost: nothing in the channel upgrades from it any more"})
		}
	}
	// Those of the bundles of a package.
	versions := map[string]*version.VersionRelease{}
	for _, c := range pkg.Channels {
		for _, e := range c.Entries {
			versions[e.Name] = &e.Bundle.Version
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was.named)) {
		if _, listed := was.entries[name]; !listed && !is.leadOn(name, versions[name]) {
			lost = append(lost, loss{true, name, "upgrade path lost: nothing in the channel upgrades from it any more, where it is still installed"})
		}
	}
	for _, r := range was.ranges {
		if v, ok := is.lost(r, was); ok {
			lost = append(lost, loss{true, "", fmt.Sprintf("upgrade path lost: versions such as %s were upgraded by the skipRange %q, and are not any more", v, r)})
		}
	}
	if was.checks > mostChecks || is.checks > mostChecks {
		return []loss{{false, "", "there are too many skipRanges and versions to tell whether each still has a way to the head"}}
	}
	return lost
}

// ways tells what the chain of a channel upgrades from.
type ways struct {
	head    string
	entries map[string]*catalog.EntryInfo
	values  map[string]bool // versions of entries
	named   map[string]bool
	ranges  []wayRange       // different ones
	ends    []semver.Version // of what the ranges lead on from; made when it is needed
	checks  int
}

// wayRange is a skipRange, and the newest version that it leads to: it leads back to none.
type wayRange struct {
	version.Range
	to    version.VersionRelease
	entry string // the only one of that version that has the range; empty if more do
}

func newWays(c *catalog.ChannelInfo) *ways {
	w := &ways{head: c.Head, entries: map[string]*catalog.EntryInfo{}, values: map[string]bool{}, named: map[string]bool{}}
	seen := map[string]int{}
	for _, e := range c.Entries {
		w.entries[e.Name] = e
		w.values[e.Bundle.Version.Version.FinalizeVersion()] = true
		if !e.InChain || e.Bundle.Deprecated { // never installed
			continue
		}
		for _, name := range append([]string{e.Replaces}, e.Skips...) {
			if name != "" && name != e.Name {
				w.named[name] = true
			}
		}
		if e.SkipRange.IsZero() {
			continue
		}
		r := wayRange{e.SkipRange, e.Bundle.Version, e.Name}
		i, ok := seen[r.String()]
		switch {
		case !ok:
			seen[r.String()] = len(w.ranges)
			w.ranges = append(w.ranges, r)
		case catalog.IsBack(w.ranges[i].to, r.to): // this one is older
		case catalog.IsBack(r.to, w.ranges[i].to):
			w.ranges[i] = r
		default:
			w.ranges[i].entry = ""
		}
	}
	return w
}

// leadOn tells whether something installed is the head, or is upgraded. Its
// version is nil if that is not known.
func (w *ways) leadOn(name string, v *version.VersionRelease) bool {
	if name == w.head || w.named[name] {
		return true
	}
	if w.checks += len(w.ranges); v == nil || w.checks > mostChecks {
		return false
	}
	return slices.ContainsFunc(w.ranges, func(r wayRange) bool {
		return (r.entry == "" || r.entry != name) && catalog.SkipRangeLeads(r.Range, *v, r.to)
	})
}

// lost finds a version that a range of before leads on from and that is not
// upgraded. What is covered can only end at versions that ranges name or lead
// to, or right after them. Versions of entries are known by name.
func (w *ways) lost(r wayRange, before *ways) (semver.Version, bool) {
	for _, limits := range [][]semver.Version{r.limits(), w.limits()} {
		for _, limit := range limits {
			after := limit
			after.Patch++
			after.Pre = nil
			for _, v := range []semver.Version{limit, after} {
				if w.checks++; w.checks > mostChecks {
					return semver.Version{}, false
				}
				known := before.values[v.FinalizeVersion()] || w.values[v.FinalizeVersion()]
				if at := (version.VersionRelease{Version: v}); catalog.SkipRangeLeads(r.Range, at, r.to) && !known && !w.leadOn("", &at) {
					return v, true
				}
			}
		}
	}
	return semver.Version{}, false
}

// limits are the versions where what the range leads on from may end.
func (r wayRange) limits() []semver.Version { return append(r.Limits(), r.to.Version) }

// limits are those of the ranges.
func (w *ways) limits() []semver.Version {
	if w.ends == nil {
		for _, r := range w.ranges {
			w.ends = append(w.ends, r.limits()...)
		}
	}
	return w.ends
}
