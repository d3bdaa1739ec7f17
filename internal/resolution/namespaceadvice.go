package resolution

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// way finds what to do about a conflict of Subscriptions.
type way struct {
	*namespaceFront
	*explanation
}

// ways says what to do about rules that cannot hold together. Without any one of the rules there would be an answer, so every way is one
// of several: first those that take nothing away, then what the rules that know say, then who could be done without.
func (b *namespaceFront) ways(ctx context.Context, of *explanation) string {
	e := &way{b, of}
	// The different pieces of advice of rules, one of those that say the same. Of operators that no one asked for, one has to go, and
	// none for something that is only asked about.
	var hints []string
	orphan := ""
	for _, r := range e.reasons {
		hint := r.Origin.Hint
		switch {
		case hint == "" || r.Kind == resolve.Mandatory && e.wanted != 0:
		case r.Kind == resolve.Mandatory:
			orphan = hint
		case r.Origin.Field == fieldMinKube: // the oldest of several versions needs least
			for _, c := range e.core {
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
	if len(hints) > 2 {
		hints = []string{hints[0], hints[len(hints)-1]}
	}
	if e.wanted != 0 {
		return cmp.Or(strings.Join(hints, "; or "), e.wayFor(ctx))
	}
	var ways []string
	if !slices.ContainsFunc(hints, func(hint string) bool { return strings.HasPrefix(hint, correct) }) {
		// The channels that one of the Subscriptions could follow instead, so that there is an answer for all that the core speaks of.
		askers := e.askers(e.core)
		slices.SortStableFunc(askers, func(x, y string) int { return first(e.hasInstalled(y)) - first(e.hasInstalled(x)) })
		for _, name := range askers {
			usable := func(c *catalog.ChannelInfo) bool { return len(c.Entries) > 0 }
			served := func(g *Group, chosen *Choice) bool { return chosen != nil || g.Installed[name] != "" }
			if ways = e.otherChannels(ctx, e.requestNamed(name), usable, served, askers...); len(ways) > 0 {
				break
			}
		}
	}
	ways = append(ways, hints...)
	anew := slices.ContainsFunc(e.reasons, func(r resolve.Reason) bool { return r.Kind == resolve.Mandatory && r.Origin.Hint != "" })
	if removals := e.removals(ctx); len(removals) > 1 && !anew {
		ways = append(ways, "delete "+strings.Join(removals, ", or "))
	}
	if len(ways) == 0 {
		return "ask the authors of the bundles to correct what they require"
	}
	return strings.Join(ways, "; or ")
}

// wayFor says what to change to have what is wanted.
func (e *way) wayFor(ctx context.Context) string {
	ways := e.removals(ctx)
	for i := range ways {
		ways[i] = "delete " + ways[i]
	}
	for _, c := range e.core {
		if c.Kind != resolve.Assumed || c.Subject == "" || e.problem.Var(c.Subject) == e.wanted {
			continue
		}
		way, object := "do without "+c.Origin.Object, c.Origin.Object
		if i := slices.IndexFunc(e.nodes, func(n *node) bool {
			return n.sub != nil && object == "Subscription "+n.sub.Name || n.operator != nil && object == "ClusterServiceVersion "+n.operator.Name
		}); i >= 0 {
			way = "delete " + e.removal(e.nodes[i])
		}
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	name := e.node(e.wanted).bundle.Name
	if len(ways) == 0 {
		return fmt.Sprintf("nothing has to be done: %s is taken as soon as the catalog makes it possible", name)
	}
	return fmt.Sprintf("to have %s: %s; or wait for versions that go together", name, strings.Join(ways, ", or "))
}

// removal names what has to be deleted so that a Subscription, with what it has installed, or an operator is in no one's way. That a
// Subscription alone is deleted changes nothing: what it has installed stays.
func (b *namespaceFront) removal(of *node) string {
	var r *request
	for _, q := range b.requests {
		if of.sub != nil && q.sub == of.sub || of.operator != nil && q.installed == of.operator {
			r = q
			break
		}
	}
	switch {
	case r == nil && of.operator != nil:
		return "ClusterServiceVersion " + of.operator.Name
	case r == nil:
		return ""
	case r.installed == nil:
		return "Subscription " + r.sub.Name
	}
	return "Subscription " + r.sub.Name + " and ClusterServiceVersion " + r.installed.Name
}

// removals are those of whom a core speaks of, those first that have nothing installed yet; who wants the thing that is asked about, if
// any, is not among them.
func (e *way) removals(ctx context.Context) []string {
	var fresh, running []string
	seen := map[string]bool{"": true}
	for _, c := range e.core {
		if c.Subject == "" || c.Kind != resolve.Mandatory {
			continue
		}
		n := e.node(e.problem.Var(c.Subject))
		way := e.removal(n)
		// A Subscription, or the one that an operator belongs to, that may become what was asked about is not to go for it.
		if seen[way] || e.wanted != 0 && slices.ContainsFunc(e.subscriptions.requests, func(r *request) bool {
			return (n.sub == r.sub || n.operator != nil && n.operator == r.installed) && slices.Contains(r.options, e.wanted)
		}) {
			continue
		}
		seen[way] = true
		if strings.Contains(way, "ClusterServiceVersion ") {
			running = append(running, way)
		} else {
			fresh = append(fresh, way)
		}
	}
	if len(running) > 1 && len(fresh) > 0 && e.wanted == 0 { // more may be there than could be had: then none of them is in the way alone
		// They are one way together when, tried, one alone does not do.
		askers := e.askers(e.core)
		asker := slices.IndexFunc(askers, func(name string) bool { return !e.hasInstalled(name) })
		_, name, _ := strings.Cut(running[0], "ClusterServiceVersion ")
		gone := e.node(e.operator(e.operators[name])).bundle.Name
		g, _ := e.try(ctx, askers[asker], func(in *NamespaceRequest) {
			in.Operators = slices.DeleteFunc(in.Operators, func(o Operator) bool { return o.Name == gone })
			in.Subscriptions = slices.DeleteFunc(in.Subscriptions, func(s Subscription) bool { return s.Installed == gone })
		}, askers...)
		if g == nil {
			running = []string{strings.Join(running, " and ")}
		}
	}
	return append(fresh, running...)
}

// noPath tells in full that a Subscription is stranded, and the ways on, those first that leave the operator running; nil when it is not.
func (b *namespaceFront) noPath(ctx context.Context, r *request) *Conflict {
	if r.installed == nil || len(r.channels) == 0 || r.waits == "" || r.waits != stranded(r) {
		return nil
	}
	self, head := b.node(r.self), r.channels[0].Head
	link := func(field, format string, args ...any) Link {
		o := self.origin(field, format, args...)
		return Link{Text: o.Text, Object: o.Object, Field: o.Field, Catalog: o.Catalog, Digest: o.Digest}
	}
	what := fmt.Sprintf("the head of channel %s is %s", r.channels[0].Name, head)
	c := &Conflict{conclusion: oneLine(head) + " cannot be had", Summary: r.waits + "; " + what, Chain: []Link{
		{Text: fmt.Sprintf("subscription %s has %s installed", r.sub.Name, r.installed.Name), Object: "Subscription " + r.sub.Name, Field: fieldInstalled},
		link(fieldChannel, "%s", r.waits),
		link(fieldChannel, "%s", what),
	}}
	if !b.trial {
		// How a stranded Subscription gets on. Each way was tried.
		ways := b.otherChannels(ctx, r, func(c *catalog.ChannelInfo) bool {
			return c.Head == r.installed.Name || slices.ContainsFunc(c.Entries, func(e *catalog.EntryInfo) bool { return e.EdgeFrom(r.departure()) != catalog.NoEdge })
		}, func(g *Group, c *Choice) bool { return c != nil || len(g.Held) == 0 })
		ways = append(ways, fmt.Sprintf("ask the authors of catalog %s for an entry that replaces or skips %s", r.sub.Catalog, r.installed.Name))
		if way := b.startAnew(ctx, r); way != "" {
			ways = append(ways, way)
		}
		c.Advice = strings.Join(ways, "; or ")
	}
	return c
}

// startAnew says how to get the head of the channel without an upgrade, and what that costs. That the operator is deleted alone brings
// nothing: while its plan exists, its Subscription is left alone.
func (b *namespaceFront) startAnew(ctx context.Context, r *request) string {
	_, chosen := b.try(ctx, r.sub.Name, func(in *NamespaceRequest) {
		for i := range in.Subscriptions {
			if s := &in.Subscriptions[i]; s.Name == r.sub.Name {
				s.Installed, s.StartingCSV = "", ""
			}
		}
		in.Operators = slices.DeleteFunc(in.Operators, func(o Operator) bool { return o.Name == r.installed.Name })
	})
	if chosen == nil || chosen.Bundle.Name == r.installed.Name {
		return ""
	}
	without, older := "", ""
	if r.sub.StartingCSV != "" {
		without = " without spec.startingCSV"
	}
	if chosen.Bundle.Version.Version.LT(r.installed.Version) {
		older = fmt.Sprintf(", and %s is older than %s and may not be able to read what that has stored", chosen.Bundle.Name, r.installed.Name)
	}
	return fmt.Sprintf("delete Subscription %s and ClusterServiceVersion %s, then create the Subscription again%s, which reinstalls %s: the operator does not run meanwhile%s",
		r.sub.Name, r.installed.Name, without, chosen.Bundle.Name, older)
}

// notWaiting tells in full that an upgrade waits, and how to get on without an operator that may never run; nil when there is no way, or when
// it has failed, as more is known then.
func (b *namespaceFront) notWaiting(ctx context.Context, r *request, wanted string) *Conflict {
	if r.installed.Failed || b.trial {
		return nil
	}
	way := b.startAnew(ctx, r)
	if way == "" {
		return nil
	}
	return &Conflict{conclusion: oneLine(wanted) + " cannot be had", Summary: r.waits, Advice: way, Chain: []Link{
		{Text: fmt.Sprintf("subscription %s has %s installed", r.sub.Name, r.installed.Name), Object: "Subscription " + r.sub.Name, Field: fieldInstalled},
		{Text: r.waits, Object: "ClusterServiceVersion " + r.installed.Name, Field: "status.phase"},
	}}
}
