package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// advice says what to do about rules that cannot hold together. Without any one of the rules there would be an answer, so every way is one
// of several: first those that take nothing away, then what the rules that know say, then who could be done without.
func (b *builder) advice(core []resolve.Clause, reasons []resolve.Reason, wanted resolve.Var) string {
	if b.in.trial {
		return ""
	}
	hints := hintsOf(core, reasons, wanted)
	if len(hints) > 2 {
		hints = []string{hints[0], hints[len(hints)-1]}
	}
	if wanted != 0 {
		return cmp.Or(strings.Join(hints, "; or "), b.wayFor(wanted, core))
	}
	var ways []string
	if !slices.ContainsFunc(hints, func(hint string) bool { return strings.HasPrefix(hint, correct) }) {
		ways = b.changes(core)
	}
	ways = append(ways, hints...)
	anew := slices.ContainsFunc(reasons, func(r resolve.Reason) bool { return r.Kind == resolve.Mandatory && r.Origin.Hint != "" })
	if removals := b.removals(core, 0); len(removals) > 1 && !anew {
		ways = append(ways, "delete "+strings.Join(removals, ", or "))
	}
	if len(ways) == 0 {
		return "ask the authors of the bundles to correct what they require"
	}
	return strings.Join(ways, "; or ")
}

// changes are the channels that one of the Subscriptions could follow instead, so that there is an answer for all that the core speaks of.
func (b *builder) changes(core []resolve.Clause) []string {
	askers := b.askers(core)
	slices.SortStableFunc(askers, func(x, y string) int { return compareBool(b.hasInstalled(x), b.hasInstalled(y)) })
	for _, name := range askers {
		usable := func(c *catalog.ChannelInfo) bool { return len(c.Entries) > 0 }
		served := func(g *Group, chosen *Choice) bool { return chosen != nil || g.Installed[name] != "" }
		if ways := b.otherChannels(b.requestNamed(name), usable, served, askers...); len(ways) > 0 {
			return ways
		}
	}
	return nil
}

func compareBool(x, y bool) int { return first(y) - first(x) }

// hintsOf are the different pieces of advice of rules, one of those that say the same. Of operators that nobody asked for, one has to go,
// and none for something that is only asked about.
func hintsOf(core []resolve.Clause, reasons []resolve.Reason, wanted resolve.Var) []string {
	var hints []string
	orphan := ""
	for _, r := range reasons {
		hint := r.Origin.Hint
		switch {
		case hint == "" || r.Kind == resolve.Mandatory && wanted != 0:
		case r.Kind == resolve.Mandatory:
			orphan = hint
		case r.Origin.Field == fieldMinKube: // the oldest of several versions needs least
			for _, c := range core {
				if c.Origin.Alike == r.Origin.Alike {
					hint = c.Origin.Hint
				}
			}
			fallthrough
		case !slices.Contains(hints, hint):
			hints = append(hints, hint)
		}
	}
	if orphan != "" {
		hints = append(hints, orphan)
	}
	return hints
}

// wayFor says what to change to have what is wanted.
func (b *builder) wayFor(wanted resolve.Var, core []resolve.Clause) string {
	ways := b.removals(core, wanted)
	for i := range ways {
		ways[i] = "delete " + ways[i]
	}
	for _, c := range core {
		if c.Kind != resolve.Assumed || c.Subject == "" || b.problem.Var(c.Subject) == wanted {
			continue
		}
		way := "do without " + c.Origin.Object
		if n := b.named(c.Origin.Object); n != nil {
			way = "delete " + b.removal(n)
		}
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	name := b.node(wanted).name()
	if len(ways) == 0 {
		return fmt.Sprintf("nothing has to be done: %s is taken as soon as the catalog makes it possible", name)
	}
	return fmt.Sprintf("to have %s: %s; or wait for versions that go together", name, strings.Join(ways, ", or "))
}

// named is the Subscription or the installed operator of an origin; nil for anything else.
func (b *builder) named(object string) *node {
	for _, n := range b.nodes {
		if n.sub != nil && object == "Subscription "+n.sub.Name || n.operator != nil && object == "ClusterServiceVersion "+n.operator.Name {
			return n
		}
	}
	return nil
}

// askers are the Subscriptions that a core speaks of.
func (b *builder) askers(core []resolve.Clause) []string {
	var names []string
	for _, c := range core {
		if c.Kind == resolve.Mandatory {
			if s := b.node(b.problem.Var(c.Subject)).sub; s != nil {
				names = append(names, s.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
