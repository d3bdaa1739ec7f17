package resolution

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// route finds the versions by which an installed bundle comes to another one, one upgrade at a time.
type route struct {
	candidates
	installed *Installed
	extension string
}

// maxWay is how many versions a package may have for a way to be looked for: that checks each pair of them.
const maxWay = 1000

// follow tells after how many upgrades from a candidate others are come to, when each upgrade goes to what is wanted most once the one before is
// installed.
func (w *route) follow(from *candidate) map[*candidate]int {
	after := map[*candidate]int{}
	if len(w.candidates) > maxWay {
		return after
	}
	for at := from; ; {
		var next *candidate
		installed := &Installed{Name: at.bundle.Name, Version: at.bundle.Version}
		for _, c := range w.candidates {
			if c == at {
				break
			}
			if !slices.ContainsFunc(c.refusals, func(r refusal) bool { return r.rule != ruleEdge }) && (follows(c, installed) || c.version.Compare(at.version) == 0) {
				next = c
				break
			}
		}
		if next == nil || after[next] != 0 {
			return after
		}
		after[next] = len(after) + 1
		at = next
	}
}

// ways finds all that the installed bundle can come to by choosing versions one after the other, and from where. What they need, or others
// need, has to allow it, as far as that is known.
func (w *route) ways() map[*candidate]*candidate {
	from := map[*candidate]*candidate{}
	if len(w.candidates) > maxWay {
		return from
	}
	queue := []*candidate{{bundle: &catalog.BundleInfo{Name: w.installed.Name, Version: w.installed.Version}}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, c := range w.candidates {
			if from[c] == nil && c.bundle.Name != w.installed.Name && follows(c, &Installed{Name: at.bundle.Name, Version: at.bundle.Version}) &&
				!slices.ContainsFunc(c.refusals, func(r refusal) bool { return r.rule > ruleEdge }) {
				from[c] = at
				queue = append(queue, c)
			}
		}
	}
	return from
}

func (w *route) stops(to *candidate, from map[*candidate]*candidate) string {
	var versions []string
	for at := to; from[at] != nil; at = from[at] {
		versions = append(versions, at.bundle.Version.Version.String())
	}
	slices.Reverse(versions)
	return fmt.Sprintf("set %s of ClusterExtension %s to each of %s in turn, and wait until it is installed", fieldVersion, w.extension, strings.Join(versions, ", "))
}
