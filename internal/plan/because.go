package plan

import (
	"cmp"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// because tells what brought v into the answer.
func (b *builder) because(solution *resolve.Solution, v resolve.Var) Because {
	for _, d := range solution.Decisions {
		if d.Chosen == v && !d.Reused {
			out := Because{Asker: b.asker(d.Subject), Need: cmp.Or(b.offers[need{d.Subject, d.Origin.Field}].text, d.Origin.Text)}
			out.Rule, out.Over = b.ruleOf(d, v)
			return out
		}
	}
	return Because{Need: b.node(v).label() + " is there"}
}

func (b *builder) asker(v resolve.Var) string {
	if n := b.node(v); n.sub == nil {
		return n.label()
	} else {
		return "subscription " + n.sub.Name
	}
}

// ruleOf returns the rule that put what was chosen before the candidate that comes after it.
func (b *builder) ruleOf(d resolve.Decision, v resolve.Var) (Rule, string) {
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
func (b *builder) ruleBetween(of, x, y resolve.Var) Rule {
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
func (b *builder) describe(v resolve.Var) string {
	n := b.node(v)
	if n.bundle == nil {
		return "the installed " + n.name()
	}
	return n.bundle.Name + " from channel " + n.channel.Name + " of " + n.source.Ref.String()
}
