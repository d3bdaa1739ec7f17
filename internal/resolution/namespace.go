package resolution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/resolve"
)

// Namespace decides what a namespace should have next. The only error it returns is that of the context; that there is no answer
// for some Subscriptions is part of the result, and says nothing about the others.
func Namespace(ctx context.Context, in NamespaceRequest) (NamespaceResult, error) {
	return decideNamespace(ctx, in, false)
}

// decideNamespace decides, or tries out a changed request, where nothing is explained.
func decideNamespace(ctx context.Context, in NamespaceRequest, trial bool) (NamespaceResult, error) {
	b, err := newNamespace(ctx, in.canonical(), trial)
	if err != nil {
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
		b.budget, b.trials, d.record, d.waived = resolve.DefaultMaxSteps, maxTrials, b.record(p), nil
		if trial {
			b.budget, b.trials = maxTrialSteps, 0
		}
		before := len(d.found)
		if err := d.decide(ctx, p); err != nil {
			return NamespaceResult{}, err
		}
		// The Subscriptions of some parts that go without although what they ask for is installed for others that need it.
		parts := d.found[before:]
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
		if d.spared = names; len(d.spared) > 0 {
			d.found, d.waived = d.found[:before], nil
			if err := d.decide(ctx, p); err != nil {
				return NamespaceResult{}, err
			}
			d.spared = nil
		}
	}
	slices.SortStableFunc(d.found, func(x, y part) int { return cmp.Compare(x.group.Subscriptions[0], y.group.Subscriptions[0]) })
	r := NamespaceResult{b: d.b, parts: d.found}
	for _, p := range d.found {
		r.Groups = append(r.Groups, p.group)
	}
	return r, nil
}

// decider solves the parts of a problem.
type decider struct {
	b      *namespaceFront
	found  []part
	record NamespaceRecord // of the part at hand, before Subscriptions without an answer were left out
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
	solution, err := d.b.solve(ctx, p)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return d.answer(ctx, p, solution, subscriptions)
	}
	var core *resolve.Unsatisfiable
	if errors.As(err, &core) {
		// Take back the needs of installed operators that the conflict speaks of and that are not met as things stand: what lacks
		// something already keeps no one else from anything. It returns nil when there are none.
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
			d.waived = append(d.waived, Held{Asker: d.b.node(v).label(), Reason: c.Origin.Text + ", which cannot be had as things stand"})
		}
		if less != nil {
			return d.decide(ctx, less)
		}
	}
	guilty := d.guilty(core, subscriptions)
	if core != nil {
		err = d.b.explain(ctx, core, 0, guilty)
	} else {
		const most = 5
		err = fmt.Errorf("decide on Subscription %s, together with all they can lead to: %w; narrow down what they may have "+
			"(spec.source, spec.channel, a version range), or have some of them in a namespace of their own", safetext.List(guilty, most, ", "), err)
	}
	d.add(p, resolve.Solution{}, Group{Subscriptions: guilty, Err: err})
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

// guilty are the Subscriptions of a part that go without because of a conflict: those that it speaks of. Of these, who has something
// installed is served before who asks for something new: no one's new request stops what runs, or its upgrades. And who asks for what is
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

// add completes a group and adds it to what was found.
func (d *decider) add(p *resolve.Problem, solution resolve.Solution, g Group) {
	// Name the content that the group was decided on: the catalogs of its Subscriptions and of its choices.
	b := d.b
	used := map[catalog.Ref]string{}
	note := func(s *Source) {
		if s != nil && s.Index != nil {
			used[s.Ref] = s.Index.Digest()
		}
	}
	for _, r := range b.requests {
		if slices.Contains(g.Subscriptions, r.sub.Name) {
			note(r.source)
		}
	}
	for _, c := range g.Choices {
		for i := range b.in.Sources {
			if b.in.Sources[i].Ref == c.Catalog {
				note(&b.in.Sources[i])
			}
		}
	}
	g.Catalogs = used
	g.Installed = map[string]string{}
	for _, r := range d.b.requests {
		if r.installed != nil && slices.Contains(g.Subscriptions, r.sub.Name) {
			g.Installed[r.sub.Name] = r.installed.Name
		}
	}
	g.Record = d.record
	out := NamespaceOutcome{}
	for _, c := range g.Choices {
		install := c.Install()
		install.Deprecations = nil // the catalog has them
		out.Install = append(out.Install, install)
	}
	for _, h := range g.Held {
		out.Held = append(out.Held, oneLine(h.Reason))
	}
	if g.Err != nil {
		out.Conflict = oneLine(g.conflict().Summary)
	}
	g.Record.Outcome = out
	d.found = append(d.found, part{problem: p, solution: solution, group: g})
}

// answer adds the group of a solution.
func (d *decider) answer(ctx context.Context, p *resolve.Problem, solution resolve.Solution, subscriptions []string) error {
	of := decision{d.b, &solution}
	// List what is wanted more than what the solution has, with what holds it back: nothing older is chosen, and nothing stays as it
	// is, without a word.
	var held []Held
	for i := range of.solution.Decisions {
		wanted := of.wanted(&of.solution.Decisions[i])
		if wanted == 0 {
			continue
		}
		h, err := of.heldAt(ctx, i, wanted)
		if err != nil {
			return err
		}
		held = append(held, h)
	}
	for _, r := range of.requests {
		if slices.Contains(subscriptions, r.sub.Name) {
			held = append(held, of.heldOutside(ctx, r)...)
		}
	}
	held = append(held, d.waived...)
	d.waived = nil
	d.add(p, solution, Group{Subscriptions: subscriptions, Choices: of.choices(), Held: held})
	return nil
}
