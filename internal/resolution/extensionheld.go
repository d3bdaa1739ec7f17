package resolution

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// ExtensionHeld is a version that is newer than what was chosen: one that is held back, or one that comes after it.
type ExtensionHeld struct {
	Wanted  string `json:"wanted"`
	Instead string `json:"instead"`
	Catalog string `json:"catalog"`
	// Upgrades is after how many more upgrades the upgrade edges lead to it; nothing is in its way then. Zero means that it is held back.
	Upgrades int    `json:"upgrades,omitempty"`
	Reason   string `json:"reason"`
	Advice   string `json:"advice,omitempty"`
	// Object and Field are where the rule stands that is in the way.
	Object string `json:"object,omitempty"`
	Field  string `json:"field,omitempty"`
}

// held is the most wanted candidate newer than the chosen one that neither the channels nor the range of the user rule out. One that
// lacks nothing but an edge is told of where edges lead to it, or where nothing else is in the way.
func (b *extensionBuilder) held(chosen *candidate) *ExtensionHeld {
	var unreached *candidate
	var later map[*candidate]int
	var ways map[*candidate]*candidate
	for _, c := range b.candidates {
		if c == chosen {
			break
		}
		why := c.refusal()
		if why == nil || why.rule < ruleEdge || c.version.Compare(chosen.version) <= 0 {
			continue
		}
		if why.rule > ruleEdge {
			return b.tell(chosen, c, why.origin.Text, why.origin.Hint)
		}
		if later == nil {
			later, ways = b.follow(chosen), b.ways()
		}
		switch {
		case later[c] > 0:
			h := b.tell(chosen, c, b.comesLater(chosen, c, later[c]), "")
			h.Upgrades, h.Object, h.Field = later[c], "", ""
			return h
		case ways[c] != nil:
			return b.tell(chosen, c, why.origin.Text, fmt.Sprintf("to come to %s, %s", c.bundle.Name, b.stops(c, ways)))
		case unreached == nil:
			unreached = c
		}
	}
	if unreached == nil {
		return nil
	}
	return b.tell(chosen, unreached, unreached.refusal().origin.Text, b.askAuthors(chosen.bundle.Name))
}

func (b *extensionBuilder) tell(chosen, wanted *candidate, reason, advice string) *ExtensionHeld {
	return &ExtensionHeld{Wanted: wanted.bundle.Name, Instead: chosen.bundle.Name, Catalog: wanted.catalog.Name, Reason: reason, Advice: advice,
		Object: wanted.refusal().origin.Object, Field: wanted.refusal().origin.Field}
}

// comesLater says that a version comes in its turn.
func (b *extensionBuilder) comesLater(chosen, wanted *candidate, upgrades int) string {
	count := "1 upgrade"
	if upgrades > 1 {
		count = fmt.Sprintf("%d upgrades", upgrades)
	}
	return fmt.Sprintf("no upgrade edge leads from the installed %s straight to %s: the next step is %s, and the edges lead on from there, %s later",
		b.in.Installed.Name, wanted.bundle.Name, chosen.bundle.Name, count)
}

// follow tells after how many upgrades from a candidate others are come to, when each upgrade goes to what is wanted most.
func (b *extensionBuilder) follow(from *candidate) map[*candidate]int {
	after := map[*candidate]int{}
	if len(b.candidates) > maxWay {
		return after
	}
	for at := b.successor(from); at != nil && after[at] == 0; at = b.successor(at) {
		after[at] = len(after) + 1
	}
	return after
}

// successor is what is wanted most once a candidate is installed; nil when it is that.
func (b *extensionBuilder) successor(at *candidate) *candidate {
	from := &Installed{Name: at.bundle.Name, Version: at.bundle.Version}
	for _, c := range b.candidates {
		if c == at {
			return nil
		}
		if !c.refusedBy(func(r refusalRule) bool { return r != ruleEdge }) && (follows(c, from) || c.version.Compare(at.version) == 0) {
			return c
		}
	}
	return nil
}

func (c *candidate) refusedBy(which func(refusalRule) bool) bool {
	return slices.ContainsFunc(c.refusals, func(r refusal) bool { return which(r.rule) })
}

// maxWay is how many versions a package may have for a way to be looked for: that looks at each pair of them.
const maxWay = 1000

// way tells the versions by which the installed bundle comes to the most wanted one that only lacks an edge, one upgrade at a time.
func (b *extensionBuilder) way() string {
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
func (b *extensionBuilder) ways() map[*candidate]*candidate {
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
				!c.refusedBy(func(r refusalRule) bool { return r > ruleEdge }) {
				from[c] = at
				queue = append(queue, c)
			}
		}
	}
	return from
}

func (b *extensionBuilder) stops(to *candidate, from map[*candidate]*candidate) string {
	var versions []string
	for at := to; from[at] != nil; at = from[at] {
		versions = append(versions, at.bundle.Version.Version.String())
	}
	slices.Reverse(versions)
	return fmt.Sprintf("set %s of ClusterExtension %s to each of %s in turn, and wait until it is installed", fieldVersion, b.name, strings.Join(versions, ", "))
}
