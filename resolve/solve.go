package resolve

import "context"

// Options bound the work of one call. The zero value is ready for use.
type Options struct {
	// MaxSteps is the budget in steps, DefaultMaxSteps when zero. A step is about one literal checked.
	MaxSteps int
}

// Solve returns the preferred answer to p. Its errors are *Unsatisfiable, *BudgetExceeded, the error of ctx, or misuse
// of p.
func Solve(ctx context.Context, p *Problem, o Options) (Solution, error) {
	b := newBudget(ctx, o)
	pr, err := compile(p, b)
	if err != nil {
		return Solution{}, err
	}
	s, conflict, err := search(pr, nil, b)
	if err != nil {
		return Solution{}, err
	}
	if conflict != none {
		return Solution{}, unsatisfiable(p, pr, s.blame(conflict), b)
	}
	// Read the answer off a finished walk.
	out := Solution{Steps: s.b.used, p: p, pr: s.pr, taken: s.walk.taken}
	for _, l := range s.walk.holds.stack {
		if name := s.pr.names[l.variable()]; name != 0 && !l.negated() {
			out.Selected = append(out.Selected, name)
		}
	}
	out.Decisions = make([]Decision, 0, len(s.walk.taken))
	for _, c := range s.walk.taken {
		need := &s.pr.clauses[c.need]
		rule := s.pr.sources[need.source].rule
		d := Decision{Subject: rule.subject, Origin: rule.origin, Reused: c.reused}
		if l := need.lits[c.option]; !l.negated() {
			d.Chosen = s.pr.names[l.variable()]
		}
		preferred := need.lits[1:c.option]
		if c.reused {
			preferred = nil
		}
		for _, l := range preferred {
			if name := s.pr.names[l.variable()]; name != 0 && !l.negated() {
				d.Rejected = append(d.Rejected, name)
			}
		}
		out.Decisions = append(out.Decisions, d)
	}
	return out, nil
}

// search looks for the preferred answer to the clauses of pr whose sources are not off. It returns the clause that is
// false without any decision when there is no answer, or none.
func search(pr *program, off []bool, b *budget) (*solver, int32, error) {
	s := newSolver(pr, off, b)
	if conflict := s.attach(); conflict != none {
		return s, conflict, nil
	}
	// Hold the requests and put their needs on the agenda.
	w := &s.walk
	w.holds = newHoldings(s)
	w.head = -1
	var roots []int32
	for _, n := range s.pr.requests {
		if l := s.pr.clauses[n].lits[0]; !s.disabled(n) && !w.holds.literal[l] {
			w.holds.add(l)
			roots = append(roots, int32(l.variable()))
		}
	}
	w.requests = len(w.holds.stack)
	w.push(item{guard: deeper, next: w.head})
	for i := len(roots) - 1; i >= 0; i-- {
		w.push(item{guard: roots[i], next: w.head, own: true})
	}
	for {
		conflict := s.propagate()
		switch {
		case b.err != nil:
			return nil, none, b.err
		case conflict != none && len(s.levels) == 0:
			return s, conflict, nil
		case conflict != none:
			// Draw a clause from a conflict after at least one decision, takes back the decisions that it makes void and assigns what it
			// forces: the first unique implication point of the last decision level.
			c, back := s.analyse(conflict)
			s.b.spend(stepsPerLearned * (len(c.lits) + len(c.causes)))
			n := int32(len(s.clauses))
			s.clauses = append(s.clauses, c)
			s.watched = append(s.watched, [2]int32{})
			start := int(s.levels[back])
			for _, l := range s.trail[start:] {
				s.values[l.variable()] = unknown
			}
			s.trail, s.levels, s.next = s.trail[:start], s.levels[:back], start
			m := w.marks[back]
			w.head, w.agenda, w.taken, w.marks = m.head, w.agenda[:m.agenda], w.taken[:m.taken], w.marks[:back]
			w.holds.undo(m.chosen)
			if len(c.lits) > 1 {
				s.watch(n, 0, 1)
			}
			s.assign(c.lits[0], n)
		case !s.step() && b.err == nil:
			return s, none, nil
		}
	}
}
