package resolve

import "context"

// Options bound the work of one call. The zero value is ready for use.
type Options struct {
	// MaxSteps is the budget in steps, DefaultMaxSteps when zero. A step is about one literal looked at.
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
	return s.solution(p), nil
}

// search looks for the preferred answer to the clauses of pr whose sources are not off. It returns the clause that is
// false without any decision when there is no answer, or none.
func search(pr *program, off []bool, b *budget) (*solver, int32, error) {
	s := newSolver(pr, off, b)
	if conflict := s.attach(); conflict != none {
		return s, conflict, nil
	}
	s.start()
	for {
		conflict := s.propagate()
		switch {
		case b.err != nil:
			return nil, none, b.err
		case conflict != none && len(s.levels) == 0:
			return s, conflict, nil
		case conflict != none:
			s.learn(conflict)
		case !s.step() && b.err == nil:
			return s, none, nil
		}
	}
}
