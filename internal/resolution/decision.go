package resolution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// decision is a solution of a part of a namespace, with what it installs and what it has instead of what was wanted.
type decision struct {
	*namespaceFront
	solution *resolve.Solution
}

// choices lists what the solution adds to the namespace.
func (b *decision) choices() []Choice {
	var chosen []Choice
	for _, v := range b.solution.Selected {
		n := b.node(v)
		if n.channel == nil {
			continue
		}
		c := Choice{Bundle: n.bundle, Catalog: n.source.Ref, Channel: n.channel.Name, Because: b.because(v), Deprecations: n.deprecations()}
		for _, d := range b.solution.Decisions {
			r := b.requestOf(d.Subject)
			if r == nil || d.Chosen != v {
				continue
			}
			c.Subscriptions = append(c.Subscriptions, r.sub.Name)
			if r.installed != nil {
				c.Replaces = r.installed.Name
			}
		}
		slices.Sort(c.Subscriptions)
		chosen = append(chosen, c)
	}
	// Order choices so that what others need comes before them; otherwise by name.
	slices.SortFunc(chosen, func(a, b Choice) int { return strings.Compare(a.Bundle.Name, b.Bundle.Name) })
	var ordered []Choice
	done := make([]bool, len(chosen))
	var visit func(i int)
	visit = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		for j := range chosen {
			a, b := chosen[i].Bundle, chosen[j].Bundle
			if slices.ContainsFunc(a.Requires, func(api catalog.GVK) bool { return slices.Contains(b.Provides, api) }) ||
				slices.ContainsFunc(a.RequiredPackages, func(p catalog.PackageRequirement) bool { return p.PackageName == b.Package }) {
				visit(j)
			}
		}
		ordered = append(ordered, chosen[i])
	}
	for i := range chosen {
		visit(i)
	}
	return ordered
}

// because tells what brought v into the answer.
func (b *decision) because(v resolve.Var) Because {
	for _, d := range b.solution.Decisions {
		if d.Chosen == v && !d.Reused {
			out := Because{Asker: b.node(d.Subject).label(), Need: cmp.Or(b.offers[need{d.Subject, d.Origin.Field}].text, d.Origin.Text)}
			// The rule that put what was chosen before the candidate that comes after it; none for a part of a constraint.
			candidates := b.offers[need{d.Subject, d.Origin.Field}].candidates
			switch i := slices.Index(candidates, v); {
			case i < 0:
			case i+1 == len(candidates):
				out.Rule = RuleLastCandidate
			default:
				out.Rule, out.Over = b.ruleBetween(d.Subject, v, candidates[i+1]), b.describe(candidates[i+1])
			}
			return out
		}
	}
	return Because{Need: b.node(v).label() + " is there"}
}

// ruleBetween returns the rule that puts x before y among the candidates for a need.
func (b *decision) ruleBetween(of, x, y resolve.Var) Rule {
	if b.requestOf(of) == nil {
		_, rule := b.prefer(b.node(of), x, y)
		return rule
	}
	m, n := b.node(x), b.node(y)
	switch {
	case n.operator != nil:
		return RuleSubscription
	case m.source != n.source && m.source.Ref == b.node(of).sub.Catalog:
		return RuleOtherCatalog
	case m.source != n.source || m.channel == n.channel:
		if m.channel == n.channel {
			return RuleHeadFirst
		}
		if from := b.requestOf(of).departure(); m.skipsAsHead(from) && !n.skipsAsHead(from) {
			return RuleSkippingHead
		}
		_, rule := b.preferSource(nil, m.source, n.source)
		return rule
	case m.inDefaultChannel():
		return RuleDefaultChannel
	}
	return RuleChannelName
}

func (b *decision) chainTo(v resolve.Var) []Because {
	var chain []Because
	for seen := map[resolve.Var]bool{}; v != 0 && !seen[v] && b.node(v).sub == nil; {
		seen[v] = true
		chain = append(chain, b.because(v))
		next := resolve.Var(0)
		for _, d := range b.solution.Decisions {
			if d.Chosen == v && (!d.Reused || next == 0 && b.requestOf(d.Subject) != nil) {
				next = d.Subject
			}
		}
		v = next
	}
	return chain
}

// heldOutside tells what the problem does not even contain: upgrades that may not begin, and newer versions that their catalog got wrong.
func (b *decision) heldOutside(ctx context.Context, r *request) []Held {
	h := Held{Asker: "subscription " + r.sub.Name, Subscription: r.sub.Name, Reason: r.waits}
	for _, at := range b.solution.Decisions {
		if at.Subject == r.self {
			h.Instead = b.node(at.Chosen).bundle.Name
		}
	}
	if r.limit.binds() { // the range of the Subscription keeps something away from it
		h.Field = FieldVersionRange
		if r.limit.err != nil {
			return []Held{h}
		}
		h.Wanted = b.node(r.limit.left).bundle.Name
		h.Reason = fmt.Sprintf("%s is available, and annotation %s of Subscription %s allows only versions in %s", h.Wanted, VersionRangeAnnotation, r.sub.Name, oneLine(r.sub.VersionRange))
		if len(r.channels) > 0 && r.channels[0].Head != h.Wanted {
			h.Reason += fmt.Sprintf("; the head of channel %s is %s", r.channels[0].Name, r.channels[0].Head)
		}
		return []Held{h}
	}
	if r.waits != "" {
		if c := b.noPath(ctx, r); c != nil {
			h.Reason, h.Conflict = c.Summary, c
		}
		if r.awaiting != 0 {
			h.Wanted = b.node(r.awaiting).bundle.Name
			h.Conflict = b.notWaiting(ctx, r, h.Wanted)
		}
		return []Held{h}
	}
	if missing, problem := r.unusable(h.Instead); missing != "" {
		h.Wanted, h.Reason = missing, fmt.Sprintf("%s cannot be used: %s", missing, problem)
		return []Held{h}
	}
	return nil
}

// wanted is the most wanted candidate of a decision that cannot be had, or zero. What a Subscription stays with because something else
// needs it was not chosen by the Subscription's own request.
func (b *decision) wanted(at *resolve.Decision) resolve.Var {
	if len(at.Rejected) > 0 {
		return at.Rejected[0]
	}
	if at.Reused && b.requestOf(at.Subject) != nil {
		if all := b.offers[need{at.Subject, at.Origin.Field}].candidates; len(all) > 0 && all[0] != at.Chosen {
			return all[0]
		}
	}
	return 0
}

// heldAt tells why what is most wanted at a decision cannot be had.
func (b *decision) heldAt(ctx context.Context, i int, wanted resolve.Var) (Held, error) {
	at := &b.solution.Decisions[i]
	h := Held{Asker: b.node(at.Subject).label(), Wanted: b.node(wanted).bundle.Name}
	if at.Chosen != 0 {
		h.Instead = b.node(at.Chosen).bundle.Name
	}
	if r := b.requestOf(at.Subject); r != nil {
		h.Subscription = r.sub.Name
	}
	if b.trial {
		return h, nil
	}
	core, err := b.obstacle(ctx, b.solution, i, wanted)
	var exceeded *resolve.BudgetExceeded
	switch {
	case errors.As(err, &exceeded):
		h.Reason = h.Wanted + " cannot be had, and to find out why takes too long"
		return h, nil
	case err != nil:
		return Held{}, err
	}
	if core == nil {
		h.Reason = h.Wanted + " was possible, but what was chosen before left no need for it"
		return h, nil
	}
	h.Conflict = b.explain(ctx, core, wanted, nil)
	h.Reason = h.Conflict.Summary
	return h, nil
}
