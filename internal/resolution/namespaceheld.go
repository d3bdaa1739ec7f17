package resolution

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/resolve"
)

// held lists what is wanted more than what the solution has, with what holds it back: nothing older is chosen, and nothing stays as it
// is, without a word.
func (d *decider) held(ctx context.Context, solution *resolve.Solution, subscriptions []string) ([]Held, error) {
	var all []Held
	for i := range solution.Decisions {
		wanted := d.b.wanted(&solution.Decisions[i])
		if wanted == 0 {
			continue
		}
		h, err := d.heldAt(ctx, solution, i, wanted)
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	for _, r := range d.b.requests {
		if slices.Contains(subscriptions, r.sub.Name) {
			all = append(all, d.b.heldOutside(solution, r)...)
		}
	}
	return all, nil
}

// heldOutside tells what the problem does not even contain: upgrades that may not begin, and newer versions that their catalog got wrong.
func (b *namespaceBuilder) heldOutside(solution *resolve.Solution, r *request) []Held {
	h := Held{Asker: "subscription " + r.sub.Name, Subscription: r.sub.Name, Reason: r.waits}
	for _, at := range solution.Decisions {
		if at.Subject == r.self {
			h.Instead = b.node(at.Chosen).name()
		}
	}
	if held := b.heldByRange(r, h); len(held) > 0 {
		return held
	}
	if r.waits != "" {
		if c := b.noPath(r); c != nil {
			h.Reason, h.Conflict = c.Summary, c
		}
		if r.awaiting != 0 {
			h.Wanted = b.node(r.awaiting).name()
			h.Conflict = b.notWaiting(r, h.Wanted)
		}
		return []Held{h}
	}
	if missing, problem := r.unusable(h.Instead); missing != "" {
		h.Wanted, h.Reason = missing, fmt.Sprintf("%s cannot be used: %s", missing, problem)
		return []Held{h}
	}
	return nil
}

// notWaiting tells in full that an upgrade waits, and how to get on without an operator that may never run; nil when there is no way, or when
// it has failed, as more is known then.
func (b *namespaceBuilder) notWaiting(r *request, wanted string) *Conflict {
	if r.installed.Failed || b.in.trial {
		return nil
	}
	way := b.startAnew(r)
	if way == "" {
		return nil
	}
	return &Conflict{conclusion: cannotBeHad(wanted), Summary: r.waits, Advice: way, Chain: []Link{
		{Text: fmt.Sprintf("subscription %s has %s installed", r.sub.Name, r.installed.Name), Object: "Subscription " + r.sub.Name, Field: fieldInstalled},
		{Text: r.waits, Object: "ClusterServiceVersion " + r.installed.Name, Field: "status.phase"},
	}}
}

// wanted is the most wanted candidate of a decision that cannot be had, or zero. What a Subscription stays with because something else
// needs it was not chosen by the Subscription's own wish.
func (b *namespaceBuilder) wanted(at *resolve.Decision) resolve.Var {
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
func (d *decider) heldAt(ctx context.Context, solution *resolve.Solution, i int, wanted resolve.Var) (Held, error) {
	b, at := d.b, &solution.Decisions[i]
	h := Held{Asker: b.asker(at.Subject), Wanted: b.node(wanted).name()}
	if at.Chosen != 0 {
		h.Instead = b.node(at.Chosen).name()
	}
	if r := b.requestOf(at.Subject); r != nil {
		h.Subscription = r.sub.Name
	}
	if b.in.trial {
		return h, nil
	}
	core, err := obstacle(ctx, solution, i, wanted, &d.budget)
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
	h.Conflict = b.conflict(core, wanted, nil)
	h.Reason = h.Conflict.Summary
	return h, nil
}

// obstacle tells why v cannot be had at a decision: the rules that keep it out of every answer, where there are such, else what goes
// against what was chosen before. The work is taken from the budget.
func obstacle(ctx context.Context, solution *resolve.Solution, i int, v resolve.Var, budget *int) (*resolve.Unsatisfiable, error) {
	const share = 10 // of the budget, for the first question: when it is not answered, the second one is
	core, err := solution.Excluded(ctx, i, v, resolve.Options{MaxSteps: max(*budget/share, 1)})
	var exceeded *resolve.BudgetExceeded
	if errors.As(err, &exceeded) {
		*budget -= exceeded.Steps
		err = nil
	}
	if core == nil && err == nil {
		core, err = solution.Obstacle(ctx, i, v, resolve.Options{MaxSteps: max(*budget, 1)})
		if errors.As(err, &exceeded) {
			*budget -= exceeded.Steps
		}
	}
	if core != nil {
		*budget -= core.Steps
	}
	return core, err
}
