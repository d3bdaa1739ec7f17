package plan

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/resolve"
)

// removal names what has to be deleted so that a Subscription, with what it has installed, or an operator is in nobody's way. That a
// Subscription alone is deleted changes nothing: what it has installed stays.
func (b *builder) removal(of *node) string {
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
func (b *builder) removals(core []resolve.Clause, wanted resolve.Var) []string {
	var fresh, running []string
	seen := map[string]bool{"": true}
	for _, c := range core {
		if c.Subject == "" || c.Kind != resolve.Mandatory {
			continue
		}
		n := b.node(b.problem.Var(c.Subject))
		way := b.removal(n)
		if seen[way] || wanted != 0 && b.wants(n, wanted) {
			continue
		}
		seen[way] = true
		if strings.Contains(way, "ClusterServiceVersion ") {
			running = append(running, way)
		} else {
			fresh = append(fresh, way)
		}
	}
	return append(fresh, running...)
}

// wants tells whether a Subscription, or the one that an operator belongs to, may become v.
func (b *builder) wants(n *node, v resolve.Var) bool {
	return slices.ContainsFunc(b.requests, func(r *request) bool {
		return (n.sub == r.sub || n.operator != nil && n.operator == r.installed) && slices.Contains(r.options, v)
	})
}
