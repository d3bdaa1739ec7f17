package resolution

import (
	"cmp"
	"slices"

	"fairlead.dev/fairlead/resolve"
)

// Rule is what put one candidate of a need before another. The rules are asked in the order in which they stand here; the first one
// that sees a difference decides.
type Rule string

// The rules of preference.
const (
	RuleLastCandidate  Rule = "no other candidate is left"
	RuleKnown          Rule = "what is installed comes before what is not"
	RuleOwnCatalog     Rule = "the catalog of the dependent comes before other catalogs"
	RulePriority       Rule = "catalogs of higher priority come first"
	RuleNamespace      Rule = "catalogs of the namespace come before those of other namespaces"
	RuleCatalogName    Rule = "catalogs are in the order of their names"
	RuleDefaultChannel Rule = "the default channel comes before other channels"
	RulePackageName    Rule = "packages are in the order of their names"
	RuleChannelName    Rule = "channels are in the order of their names"
	RuleHeadFirst      Rule = "the entry nearer to the channel head comes first"
	RuleSubscription   Rule = "what is newer comes before what is installed"
	RuleOtherCatalog   Rule = "the catalog that the Subscription names comes before other catalogs"
	RuleSkippingHead   Rule = "of other catalogs, channel heads that skip what is installed come first"
)

// prefer orders two candidates for a need of a node.
func (b *pool) prefer(of *node, x, y resolve.Var) (int, Rule) {
	if i, j := b.known.rank[x], b.known.rank[y]; i != 0 || j != 0 {
		if i == 0 || j == 0 {
			return -cmp.Compare(i, j), RuleKnown // 0 is not installed
		}
		return cmp.Compare(i, j), RuleKnown
	}
	m, n := b.node(x), b.node(y)
	if m.source != n.source {
		return b.preferSource(of, m.source, n.source)
	}
	switch {
	case m.inDefaultChannel() != n.inDefaultChannel():
		return first(m.inDefaultChannel()) - first(n.inDefaultChannel()), RuleDefaultChannel
	case m.bundle.Package != n.bundle.Package:
		return cmp.Compare(m.bundle.Package, n.bundle.Package), RulePackageName
	case m.channel != n.channel:
		return cmp.Compare(m.channel.Name, n.channel.Name), RuleChannelName
	}
	return cmp.Compare(m.place, n.place), RuleHeadFirst
}

// preferSource orders two catalogs for a need of a node: its own catalog, then by priority, then those of the namespace itself, then
// by name. Without a node, none is its own.
func (b *pool) preferSource(of *node, x, y *Source) (int, Rule) {
	own := func(s *Source) bool { return of != nil && s == of.source }
	inside := func(s *Source) bool { return s.Ref.Namespace == b.in.Namespace }
	switch {
	case own(x) != own(y):
		return first(own(x)) - first(own(y)), RuleOwnCatalog
	case x.Priority != y.Priority:
		return cmp.Compare(y.Priority, x.Priority), RulePriority
	case inside(x) != inside(y):
		return first(inside(x)) - first(inside(y)), RuleNamespace
	}
	return cmp.Or(cmp.Compare(x.Ref.Name, y.Ref.Name), cmp.Compare(x.Ref.Namespace, y.Ref.Namespace)), RuleCatalogName
}

func first(yes bool) int {
	if yes {
		return 0
	}
	return 1
}

// sourcesFor lists the catalogs in view in the order in which they are asked for a need of the node.
func (b *pool) sourcesFor(n *node) []*Source {
	all := make([]*Source, len(b.in.Sources))
	for i := range b.in.Sources {
		all[i] = &b.in.Sources[i]
	}
	slices.SortStableFunc(all, func(x, y *Source) int {
		order, _ := b.preferSource(n, x, y)
		return order
	})
	return all
}
