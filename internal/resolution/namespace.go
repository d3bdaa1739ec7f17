package resolution

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"fairlead.dev/fairlead/resolve"
)

// Namespace decides what a namespace should have next. The only error it returns is that of the context; that there is no answer
// for some Subscriptions is part of the result, and says nothing about the others.
func Namespace(ctx context.Context, in NamespaceRequest) (NamespaceResult, error) {
	b := newNamespaceBuilder(in.canonical())
	if err := b.build(ctx); err != nil {
		return NamespaceResult{}, err
	}
	parts := []*resolve.Problem{&b.problem}
	if !in.Together {
		parts = resolve.Components(&b.problem)
	}
	d := decider{b: b}
	for _, p := range parts {
		if len(b.subscriptionsOf(p)) == 0 {
			continue
		}
		d.budget, d.record, d.waived, b.trials = resolve.DefaultMaxSteps, b.record(p), nil, maxTrials
		if in.trial {
			d.budget, b.trials = maxTrialSteps, 0
		}
		before := len(d.found)
		if err := d.decide(ctx, p); err != nil {
			return NamespaceResult{}, err
		}
		if d.spared = d.served(d.found[before:]); len(d.spared) > 0 {
			d.found, d.waived = d.found[:before], nil
			if err := d.decide(ctx, p); err != nil {
				return NamespaceResult{}, err
			}
			d.spared = nil
		}
	}
	slices.SortStableFunc(d.found, func(x, y part) int { return cmp.Compare(x.group.Subscriptions[0], y.group.Subscriptions[0]) })
	return d.result(), nil
}

// result puts together what was found.
func (d *decider) result() NamespaceResult {
	r := NamespaceResult{b: d.b, parts: d.found}
	for _, p := range d.found {
		r.Groups = append(r.Groups, p.group)
	}
	return r
}

// decider solves the parts of a problem.
type decider struct {
	b      *namespaceBuilder
	found  []part
	record NamespaceRecord // of the part at hand, before Subscriptions without an answer were left out
	budget int             // steps that are left for it
	waived []Held          // needs of installed operators of it that cannot be met
	spared []string        // Subscriptions of it that are served anyway
}

// part is a problem that was decided by itself.
type part struct {
	problem  *resolve.Problem
	solution resolve.Solution // when group.Err is nil
	group    Group
}

// decide finds the answer to a part. When there is none, only the Subscriptions that the explanation speaks of go without: what they
// have installed stays, and the others are decided on without them.
func (d *decider) decide(ctx context.Context, p *resolve.Problem) error {
	subscriptions := d.b.subscriptionsOf(p)
	if len(subscriptions) == 0 {
		return nil
	}
	solution, err := d.solve(ctx, p)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return d.answer(ctx, p, solution, subscriptions)
	}
	var core *resolve.Unsatisfiable
	if errors.As(err, &core) {
		if less := d.waive(p, core); less != nil {
			return d.decide(ctx, less)
		}
	}
	guilty := d.guilty(core, subscriptions)
	d.add(p, resolve.Solution{}, Group{Subscriptions: guilty, Err: d.b.asConflict(err, guilty)})
	if len(guilty) == len(subscriptions) {
		return nil
	}
	for _, rest := range resolve.Components(d.b.without(p, guilty)) {
		if err := d.decide(ctx, rest); err != nil {
			return err
		}
	}
	return nil
}

// solve solves a part. Bundles of the answer that need a newer Kubernetes are taken out, and it is solved again: the answer is the same
// as if all such bundles had been taken out before, and only the few that matter have to be looked into.
func (d *decider) solve(ctx context.Context, p *resolve.Problem) (resolve.Solution, error) {
	for {
		solution, err := resolve.Solve(ctx, p, resolve.Options{MaxSteps: max(d.budget, 1)})
		var core *resolve.Unsatisfiable
		if errors.As(err, &core) {
			d.budget -= core.Steps
		}
		d.budget -= solution.Steps
		if err != nil || !d.b.refuseTooNew(p, solution) {
			return solution, err
		}
	}
}

// waive takes back the needs of installed operators that the conflict speaks of and that are not met as things stand: what lacks
// something already keeps nobody else from anything. It returns nil when there are none.
func (d *decider) waive(p *resolve.Problem, core *resolve.Unsatisfiable) *resolve.Problem {
	var less *resolve.Problem
	for _, c := range core.Core {
		v := d.b.problem.Var(c.Subject)
		if c.Subject == "" || !d.b.lacking[need{v, c.Origin.Field}] {
			continue
		}
		if less == nil {
			less = p
		}
		less = less.Waive(v, c.Origin.Field)
		d.waived = append(d.waived, Held{Asker: d.b.asker(v), Reason: c.Origin.Text + ", which cannot be had as things stand"})
	}
	return less
}

// without returns the problem without some Subscriptions. What they have installed is a fact.
func (b *namespaceBuilder) without(p *resolve.Problem, subscriptions []string) *resolve.Problem {
	var selves []resolve.Var
	for _, r := range b.requests {
		if slices.Contains(subscriptions, r.sub.Name) {
			selves = append(selves, r.self)
		}
	}
	rest := p.Without(selves...)
	for _, r := range b.requests {
		if slices.Contains(subscriptions, r.sub.Name) {
			b.stays(rest, r)
		}
	}
	return rest
}

func (b *namespaceBuilder) subscriptionsOf(p *resolve.Problem) []string {
	var names []string
	for _, v := range p.Requests() {
		if s := b.node(v).sub; s != nil {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// guilty are the Subscriptions of a part that go without because of a conflict: those that it speaks of. Of these, who has something
// installed is served before who asks for something new: nobody's new wish stops what runs, or its upgrades. And who asks for what is
// there anyway, since others need it, is spared.
func (d *decider) guilty(core *resolve.Unsatisfiable, subscriptions []string) []string {
	if core == nil || d.b.in.Together {
		return subscriptions
	}
	blamed := d.b.askers(core.Core)
	if len(blamed) == 0 {
		return subscriptions
	}
	for _, spared := range []func(string) bool{d.b.hasInstalled, func(name string) bool { return slices.Contains(d.spared, name) }} {
		if left := slices.DeleteFunc(slices.Clone(blamed), spared); len(left) > 0 {
			blamed = left
		}
	}
	return blamed
}

func (b *namespaceBuilder) hasInstalled(subscription string) bool {
	r := b.requestNamed(subscription)
	return r != nil && r.installed != nil
}

func (b *namespaceBuilder) requestNamed(subscription string) *request {
	for _, r := range b.requests {
		if r.sub.Name == subscription {
			return r
		}
	}
	return nil
}

// served are the Subscriptions of some parts that go without although what they ask for is installed for others that need it.
func (d *decider) served(parts []part) []string {
	chosen := map[resolve.Var]bool{}
	for i := range parts {
		for _, v := range parts[i].solution.Selected {
			chosen[v] = true
		}
	}
	var names []string
	for i := range parts {
		for _, name := range parts[i].group.Subscriptions {
			r := d.b.requestNamed(name)
			if parts[i].group.Err != nil && slices.ContainsFunc(r.options, func(v resolve.Var) bool { return chosen[v] && v != r.own }) {
				names = append(names, name)
			}
		}
	}
	return names
}
