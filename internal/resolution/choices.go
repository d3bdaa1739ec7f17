package resolution

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
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
func (b *namespaceBuilder) choices(solution *resolve.Solution) []Choice {
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
func (b *namespaceBuilder) requestOf(v resolve.Var) *request {
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
func (b *namespaceBuilder) catalogsOf(g Group) map[catalog.Ref]string {
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
	return used
}

// because tells what brought v into the answer.
func (b *namespaceBuilder) because(solution *resolve.Solution, v resolve.Var) Because {
	for _, d := range solution.Decisions {
		if d.Chosen == v && !d.Reused {
			out := Because{Asker: b.asker(d.Subject), Need: cmp.Or(b.offers[need{d.Subject, d.Origin.Field}].text, d.Origin.Text)}
			out.Rule, out.Over = b.ruleOf(d, v)
			return out
		}
	}
	return Because{Need: b.node(v).label() + " is there"}
}

func (b *namespaceBuilder) asker(v resolve.Var) string {
	if n := b.node(v); n.sub == nil {
		return n.label()
	} else {
		return "subscription " + n.sub.Name
	}
}

// ruleOf returns the rule that put what was chosen before the candidate that comes after it.
func (b *namespaceBuilder) ruleOf(d resolve.Decision, v resolve.Var) (Rule, string) {
	candidates := b.offers[need{d.Subject, d.Origin.Field}].candidates
	i := slices.Index(candidates, v)
	switch {
	case i < 0:
		return "", "" // a part of a constraint
	case i+1 == len(candidates):
		return RuleLastCandidate, ""
	}
	next := candidates[i+1]
	return b.ruleBetween(d.Subject, v, next), b.describe(next)
}

// ruleBetween returns the rule that puts x before y among the candidates for a need.
func (b *namespaceBuilder) ruleBetween(of, x, y resolve.Var) Rule {
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

// skipsAsHead tells whether the entry is the head of its channel and leads on from somewhere not only by replacing it.
func (n *node) skipsAsHead(from catalog.Departure) bool {
	return n.place == 0 && n.channel.Entries[0].EdgeFrom(from) != catalog.EdgeReplaces
}

// describe names a candidate together with where it comes from.
func (b *namespaceBuilder) describe(v resolve.Var) string {
	n := b.node(v)
	if n.bundle == nil {
		return "the installed " + n.name()
	}
	return n.bundle.Name + " from channel " + n.channel.Name + " of " + n.source.Ref.String()
}
