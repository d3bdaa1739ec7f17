package extension

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// maxWay is how many versions a package may have for a way to be looked for: that looks at each pair of them.
const maxWay = 1000

// way tells the versions by which the installed bundle comes to the most wanted one that only lacks an edge, one upgrade at a time.
func (b *builder) way() string {
	from := b.ways()
	for _, c := range b.candidates {
		if from[c] != nil && c.refusal().rule == ruleEdge {
			return b.stops(c, from)
		}
	}
	return ""
}

// ways finds all that the installed bundle can come to by choosing versions one after the other, and from where. What they need, or others
// need, has to allow it, as far as that is known.
func (b *builder) ways() map[*candidate]*candidate {
	from := map[*candidate]*candidate{}
	if len(b.candidates) > maxWay {
		return from
	}
	queue := []*candidate{{bundle: &catalog.BundleInfo{Name: b.in.Installed.Name, Version: b.in.Installed.Version}}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, c := range b.candidates {
			if from[c] == nil && !b.isInstalled(c) && follows(c, &Installed{Name: at.bundle.Name, Version: at.bundle.Version}) &&
				!c.refusedBy(func(r rule) bool { return r > ruleEdge }) {
				from[c] = at
				queue = append(queue, c)
			}
		}
	}
	return from
}

func (b *builder) stops(to *candidate, from map[*candidate]*candidate) string {
	var versions []string
	for at := to; from[at] != nil; at = from[at] {
		versions = append(versions, at.bundle.Version.Version.String())
	}
	slices.Reverse(versions)
	return fmt.Sprintf("set %s of ClusterExtension %s to each of %s in turn, and wait until it is installed", fieldVersion, b.name, strings.Join(versions, ", "))
}
