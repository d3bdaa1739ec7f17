package extension

import (
	"fmt"
	"slices"
)

// Held is a version that is newer than what was chosen: one that is held back, or one that comes after it.
type Held struct {
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
func (b *builder) held(chosen *candidate) *Held {
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

func (b *builder) tell(chosen, wanted *candidate, reason, advice string) *Held {
	return &Held{Wanted: wanted.bundle.Name, Instead: chosen.bundle.Name, Catalog: wanted.catalog.Name, Reason: reason, Advice: advice,
		Object: wanted.refusal().origin.Object, Field: wanted.refusal().origin.Field}
}

// comesLater says that a version comes in its turn.
func (b *builder) comesLater(chosen, wanted *candidate, upgrades int) string {
	count := "1 upgrade"
	if upgrades > 1 {
		count = fmt.Sprintf("%d upgrades", upgrades)
	}
	return fmt.Sprintf("no upgrade edge leads from the installed %s straight to %s: the next step is %s, and the edges lead on from there, %s later",
		b.in.Installed.Name, wanted.bundle.Name, chosen.bundle.Name, count)
}

// follow tells after how many upgrades from a candidate others are come to, when each upgrade goes to what is wanted most.
func (b *builder) follow(from *candidate) map[*candidate]int {
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
func (b *builder) successor(at *candidate) *candidate {
	from := &Installed{Name: at.bundle.Name, Version: at.bundle.Version}
	for _, c := range b.candidates {
		if c == at {
			return nil
		}
		if !c.refusedBy(func(r rule) bool { return r != ruleEdge }) && (follows(c, from) || c.version.Compare(at.version) == 0) {
			return c
		}
	}
	return nil
}

func (c *candidate) refusedBy(which func(rule) bool) bool {
	return slices.ContainsFunc(c.refusals, func(r refusal) bool { return which(r.rule) })
}
