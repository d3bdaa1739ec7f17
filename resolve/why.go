package resolve

import (
	"context"
	"fmt"
	"slices"
)

// Verdict tells what became of one Var.
type Verdict struct {
	// Selected reports that it is in the answer. Decision then is the one that chose it, nil for a request.
	Selected bool
	// Decision is where it lost against something else, or nil when nothing that was selected asks for it.
	Decision *Decision
	// Core, if any, is why it could not be had at that decision; *Assumed* clauses in it are choices made before. When it
	// is nil, the Var could have been had, but something else is wanted more or met the need already.
	Core *Unsatisfiable
}

// WhyNot tells why v is not in the answer, or what brought it in. Its errors are those of Solve.
func (s *Solution) WhyNot(ctx context.Context, v Var, o Options) (Verdict, error) {
	if slices.Contains(s.Selected, v) {
		out := Verdict{Selected: true}
		if i := slices.IndexFunc(s.Decisions, func(d Decision) bool { return d.Chosen == v && !d.Reused }); i >= 0 {
			out.Decision = &s.Decisions[i]
		}
		return out, nil
	}
	for i, d := range s.Decisions {
		if slices.Contains(d.Rejected, v) {
			core, err := s.Obstacle(ctx, i, v, o)
			if err == nil && core == nil {
				err = fmt.Errorf("resolve: %s is possible after all: the problem was changed after it was solved", s.p.ID(v))
			}
			return Verdict{Decision: &s.Decisions[i], Core: core}, err
		}
	}
	for i, c := range s.taken {
		if slices.ContainsFunc(s.pr.clauses[c.need].lits[1:], func(l lit) bool { return !l.negated() && s.pr.names[l.variable()] == v }) {
			return Verdict{Decision: &s.Decisions[i]}, nil
		}
	}
	return Verdict{}, nil
}

// Obstacle tells why v, which could meet the need of Decisions[n], was impossible together with all that had been chosen before. It is
// nil when v was possible. Its errors are those of Solve.
func (s *Solution) Obstacle(ctx context.Context, n int, v Var, o Options) (*Unsatisfiable, error) {
	return s.obstacle(ctx, s.taken[:n], n, v, o)
}

// Excluded tells why v, which could meet the need of Decisions[n], is in no answer at all, whatever had been chosen before. It is nil when
// it is in one. Its errors are those of Solve.
func (s *Solution) Excluded(ctx context.Context, n int, v Var, o Options) (*Unsatisfiable, error) {
	return s.obstacle(ctx, nil, n, v, o)
}

func (s *Solution) obstacle(ctx context.Context, earlier []choice, n int, v Var, o Options) (*Unsatisfiable, error) {
	pr := *s.pr
	pr.clauses = pr.clauses[:len(pr.clauses):len(pr.clauses)]
	pr.requests = pr.requests[:len(pr.requests):len(pr.requests)]
	pr.sources = pr.sources[:len(pr.sources):len(pr.sources)]
	var assumed []lit // each becomes a clause of its own source
	for i, c := range earlier {
		if !c.reused {
			l := pr.clauses[c.need].lits[c.option]
			// Describe l, which met the need of d, as an assumption.
			d := &s.Decisions[i]
			origin := d.Origin
			id := s.p.ID(s.pr.names[l.variable()])
			switch {
			case id == "":
				origin.Text = "an alternative was chosen earlier, since " + origin.Text
			case l.negated():
				origin.Text = id + " was left out earlier, since " + origin.Text
			default:
				origin.Text = id + " was chosen earlier, since " + origin.Text
			}
			assumed = append(assumed, l)
			pr.sources = append(pr.sources, source{assumed: &Clause{Kind: Assumed, Subject: id, Origin: origin}})
		}
	}
	for _, l := range pr.clauses[s.taken[n].need].lits[1:] {
		if !l.negated() && pr.names[l.variable()] == v {
			id := s.p.ID(v)
			assumed = append(assumed, l)
			pr.sources = append(pr.sources, source{assumed: &Clause{Kind: Assumed, Subject: id, Origin: Origin{Text: id + " is asked about"}}})
		}
	}
	for i, l := range assumed {
		n := pr.add(clause{lits: []lit{l}, source: int32(len(s.pr.sources) + i)})
		if !l.negated() {
			pr.requests = append(pr.requests, n)
		}
	}
	if left := pr.left; left != nil { // none of them is left out
		pr.left = &absent{append(left.sources[:len(left.sources):len(left.sources)], make([]bool, len(assumed))...), left.variables}
	}
	b := newBudget(ctx, o)
	found, conflict, err := search(&pr, nil, b)
	if err != nil || conflict == none {
		return nil, err
	}
	return unsatisfiable(s.p, &pr, found.blame(conflict), b), nil
}

// Solution is the preferred answer of a problem.
type Solution struct {
	// Selected holds the answer in the order in which it was found: the requests first, then what they need, then
	// what that needs, depth first.
	Selected []Var
	// Decisions tell how each need was met, in the order in which they were visited.
	Decisions []Decision
	// Steps is the work that was done.
	Steps int

	p     *Problem
	pr    *program
	taken []choice // by decision
}

// Decision tells how one need was met.
type Decision struct {
	Subject  Var    // what has the need
	Origin   Origin // where the need comes from
	Chosen   Var    // what meets it; zero when that is an absence or a part of a formula
	Reused   bool   // what meets it was selected before
	Rejected []Var  // what is wanted more than Chosen but cannot be had together with everything chosen before
}

// IDs returns the ids of Selected, in the same order.
func (s *Solution) IDs() []string {
	ids := make([]string, len(s.Selected))
	for i, v := range s.Selected {
		ids[i] = s.p.ID(v)
	}
	return ids
}
