package plan

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/resolve"
)

// advice says what to do about rules that cannot hold together: what the rules that know say, else what follows from who asks. Without any
// one of the rules there would be an answer, so one piece of advice is enough: that about the most wanted version comes first.
func (b *builder) advice(core []resolve.Clause, reasons []resolve.Reason, wanted resolve.Var) string {
	if hints := hintsOf(core, reasons, wanted); len(hints) == 1 {
		return hints[0]
	} else if len(hints) > 1 {
		return hints[0] + "; or " + hints[len(hints)-1]
	}
	askers := b.askers(core)
	limited := slices.ContainsFunc(core, func(c resolve.Clause) bool { return c.Kind == resolve.Limited || c.Kind == resolve.Compound })
	switch {
	case wanted != 0:
		return b.wayFor(wanted, core)
	case len(askers) > 1 && limited:
		return fmt.Sprintf("delete Subscription %s, or let one of them follow a channel that does not clash", strings.Join(askers, " or "))
	case len(askers) > 0:
		return fmt.Sprintf("let Subscription %s follow another channel or catalog, or ask the authors of the bundles to correct what they require", strings.Join(askers, " or "))
	}
	return "delete one of the ClusterServiceVersions that exclude each other"
}

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
	var ways []string
	note := func(way string) {
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	for _, c := range core {
		if c.Subject == "" || c.Kind != resolve.Mandatory && c.Kind != resolve.Assumed {
			continue
		}
		switch n := b.node(b.problem.Var(c.Subject)); {
		case n.sub != nil:
			note("change or delete Subscription " + n.sub.Name)
		case n.operator != nil:
			note("upgrade or delete ClusterServiceVersion " + n.operator.Name)
		case b.problem.Var(c.Subject) != wanted:
			note("do without " + n.name())
		}
	}
	if len(ways) == 0 {
		return fmt.Sprintf("nothing has to be done: %s is taken as soon as the catalog makes it possible", b.node(wanted).name())
	}
	return fmt.Sprintf("to have %s: %s", b.node(wanted).name(), strings.Join(ways, ", or "))
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
