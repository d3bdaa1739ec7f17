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
	if len(running) > 1 && len(fresh) > 0 && wanted == 0 { // more may be there than could be had: then none of them is in the way alone
		running = b.together(running, core)
	}
	return append(fresh, running...)
}

// together makes one way of several when, tried, one alone does not do.
func (b *builder) together(running []string, core []resolve.Clause) []string {
	askers := b.askers(core)
	asker := slices.IndexFunc(askers, func(name string) bool { return !b.hasInstalled(name) })
	gone := b.node(b.operatorIn(running[0]))
	g, _ := b.try(askers[asker], func(in *Input) {
		in.Operators = slices.DeleteFunc(in.Operators, func(o Operator) bool { return o.Name == gone.name() })
		in.Subscriptions = slices.DeleteFunc(in.Subscriptions, func(s Subscription) bool { return s.Installed == gone.name() })
	}, askers...)
	if g != nil {
		return running
	}
	return []string{strings.Join(running, " and ")}
}

// operatorIn is the operator that a removal ends with.
func (b *builder) operatorIn(removal string) resolve.Var {
	_, name, _ := strings.Cut(removal, "ClusterServiceVersion ")
	return b.operator(b.operators[name])
}

// wants tells whether a Subscription, or the one that an operator belongs to, may become v.
func (b *builder) wants(n *node, v resolve.Var) bool {
	return slices.ContainsFunc(b.requests, func(r *request) bool {
		return (n.sub == r.sub || n.operator != nil && n.operator == r.installed) && slices.Contains(r.options, v)
	})
}
