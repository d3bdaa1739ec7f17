package plan

import "fairlead.dev/fairlead/resolve"

// Why tells why an operator is, or will be, in the namespace: what asked for it, then what asked for that, and so on up to a
// Subscription or to what is there anyway. It is empty when the operator is in no answer.
func (r *Result) Why(operator string) []Because {
	for i := range r.parts {
		p := &r.parts[i]
		for _, v := range p.solution.Selected {
			if n := r.b.node(v); n.sub == nil && n.name() == operator {
				return r.b.chainTo(&p.solution, v)
			}
		}
	}
	if _, ok := r.b.operators[operator]; ok {
		return []Because{{Need: "clusterserviceversion " + operator + " is there, and nothing that is asked for concerns it"}}
	}
	return nil
}

func (b *builder) chainTo(solution *resolve.Solution, v resolve.Var) []Because {
	var chain []Because
	for seen := map[resolve.Var]bool{}; v != 0 && !seen[v] && b.node(v).sub == nil; {
		seen[v] = true
		chain = append(chain, b.because(solution, v))
		next := resolve.Var(0)
		for _, d := range solution.Decisions {
			if d.Chosen == v && (!d.Reused || next == 0 && b.requestOf(d.Subject) != nil) {
				next = d.Subject
			}
		}
		v = next
	}
	return chain
}
