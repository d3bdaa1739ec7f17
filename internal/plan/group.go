package plan

import (
	"context"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/catalogset"
	"fairlead.dev/fairlead/resolve"
)

// add completes a group and adds it to what was found.
func (d *decider) add(p *resolve.Problem, solution resolve.Solution, g Group) {
	g.Catalogs = d.b.catalogsOf(g)
	g.Installed = map[string]string{}
	for _, r := range d.b.requests {
		if r.installed != nil && slices.Contains(g.Subscriptions, r.sub.Name) {
			g.Installed[r.sub.Name] = r.installed.Name
		}
	}
	g.Record = d.record
	g.Record.Outcome = g.outcome()
	d.found = append(d.found, part{problem: p, solution: solution, group: g})
}

// answer adds the group of a solution.
func (d *decider) answer(ctx context.Context, p *resolve.Problem, solution resolve.Solution, subscriptions []string) error {
	held, err := d.held(ctx, &solution, subscriptions)
	if err != nil {
		return err
	}
	held = append(held, d.waived...)
	d.waived = nil
	d.add(p, solution, Group{Subscriptions: subscriptions, Choices: d.b.choices(&solution), Held: held})
	return nil
}

// choices lists what the solution adds to the namespace.
func (b *builder) choices(solution *resolve.Solution) []Choice {
	var chosen []Choice
	for _, v := range solution.Selected {
		n := b.node(v)
		if n.bundle == nil {
			continue
		}
		c := Choice{Bundle: n.bundle, Catalog: n.source.Ref, Channel: n.channel.Name, Because: b.because(solution, v), Deprecations: n.deprecations()}
		for _, d := range solution.Decisions {
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
	return providersFirst(chosen)
}

// requestOf returns the request that is the node v, or nil.
func (b *builder) requestOf(v resolve.Var) *request {
	if b.node(v).sub == nil {
		return nil
	}
	i := slices.IndexFunc(b.requests, func(r *request) bool { return r.self == v })
	return b.requests[i]
}

// providersFirst orders choices so that what others need comes before them; otherwise by name.
func providersFirst(choices []Choice) []Choice {
	slices.SortFunc(choices, func(a, b Choice) int { return strings.Compare(a.Bundle.Name, b.Bundle.Name) })
	var ordered []Choice
	done := make([]bool, len(choices))
	var visit func(i int)
	visit = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		for j := range choices {
			if needs(choices[i].Bundle, choices[j].Bundle) {
				visit(j)
			}
		}
		ordered = append(ordered, choices[i])
	}
	for i := range choices {
		visit(i)
	}
	return ordered
}

func needs(a, b *catalog.BundleInfo) bool {
	for _, gvk := range a.Requires {
		if slices.Contains(b.Provides, gvk) {
			return true
		}
	}
	for _, p := range a.RequiredPackages {
		if p.PackageName == b.Package {
			return true
		}
	}
	return false
}

// catalogsOf names the content that the group was decided on: the catalogs of its Subscriptions and of its choices.
func (b *builder) catalogsOf(g Group) map[catalogset.Ref]string {
	used := map[catalogset.Ref]string{}
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
	return used
}
