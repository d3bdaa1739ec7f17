package resolution

import (
	"context"
	"errors"
	"slices"

	"fairlead.dev/fairlead/resolve"
)

// builder has the problem of a request solved, and explains why something is not in the answer. What only one of the APIs knows is its
// front's: what is requested and installed, what is preferred, and the names for messages.
type builder struct {
	front
	problem resolve.Problem
	budget  int  // solver steps that are left
	trials  int  // that are left to find advice
	trial   bool // it is decided on to see whether advice works; nothing is explained
}

// front is what one API knows of its problem.
type front interface {
	// requested reports whether a Var is a request, which is always chosen.
	requested(v resolve.Var) bool
	// recheck refuses what a solution may not have for reasons that are too expensive to state of everything, and reports whether it did.
	recheck(p *resolve.Problem, s *resolve.Solution) bool
	// conclude gives the chain of a conflict the names of the catalog in place of those of the solver, and fills in what follows from it.
	conclude(e *explanation, c *Conflict)
	// ways says what to do about a conflict.
	ways(ctx context.Context, e *explanation) string
}

// explanation is what is known about rules that cannot hold together.
type explanation struct {
	core     []resolve.Clause
	reasons  []resolve.Reason // of the core, without those that only ask about what is wanted
	wanted   resolve.Var      // what was asked about; zero when requests have no answer
	requests []string         // those that have none
}

// solve solves a problem. What recheck refuses is removed, and it is solved again: the answer is the same as if all such bundles had been
// removed before, and only the few that matter have to be looked into.
func (b *builder) solve(ctx context.Context, p *resolve.Problem) (resolve.Solution, error) {
	for {
		solution, err := resolve.Solve(ctx, p, resolve.Options{MaxSteps: max(b.budget, 1)})
		var core *resolve.Unsatisfiable
		if errors.As(err, &core) {
			b.budget -= core.Steps
		}
		b.budget -= solution.Steps
		if err != nil || !b.recheck(p, &solution) {
			return solution, err
		}
	}
}

// explain tells why there is no answer for some requests or, with a Var that was asked about, why that cannot be had.
func (b *builder) explain(ctx context.Context, core *resolve.Unsatisfiable, wanted resolve.Var, requests []string) *Conflict {
	e := &explanation{core: core.Core, wanted: wanted, requests: requests}
	// What was left out by an earlier choice is about the same bundle, but names the object that the choice was made for.
	e.reasons = slices.DeleteFunc(core.Reasons(), func(r resolve.Reason) bool {
		return wanted != 0 && r.Kind == resolve.Assumed && r.Origin.Object == "" && b.problem.Var(r.Subject) == wanted
	})
	c := &Conflict{core: core}
	for _, r := range e.reasons {
		o := r.Origin
		l := Link{Text: o.Text, Object: o.Object, Field: o.Field, Catalog: o.Catalog, Digest: o.Digest, Alike: r.More}
		l.plain = r.Kind == resolve.Mandatory && b.requested(b.problem.Var(r.Subject)) &&
			slices.ContainsFunc(e.reasons, func(other resolve.Reason) bool { return other.Kind != resolve.Mandatory && other.Subject == r.Subject })
		c.Chain = append(c.Chain, l)
	}
	b.conclude(e, c)
	if !b.trial {
		c.Advice = b.ways(ctx, e)
	}
	return c
}

// obstacle finds what keeps v out at a decision: the rules that keep it out of every answer, where there are such, else what goes
// against what was chosen before. The work is taken from the budget.
func (b *builder) obstacle(ctx context.Context, solution *resolve.Solution, i int, v resolve.Var) (*resolve.Unsatisfiable, error) {
	const share = 10 // of the budget, for the first question: when it is not answered, the second one is
	core, err := solution.Excluded(ctx, i, v, resolve.Options{MaxSteps: max(b.budget/share, 1)})
	var exceeded *resolve.BudgetExceeded
	if errors.As(err, &exceeded) {
		b.budget -= exceeded.Steps
		err = nil
	}
	if core == nil && err == nil {
		core, err = solution.Obstacle(ctx, i, v, resolve.Options{MaxSteps: max(b.budget, 1)})
		if errors.As(err, &exceeded) {
			b.budget -= exceeded.Steps
		}
	}
	if core != nil {
		b.budget -= core.Steps
	}
	return core, err
}

// mayTry takes one of the trials that are left to see whether advice works, and reports whether there was one.
func (b *builder) mayTry(ctx context.Context) bool {
	if b.trials == 0 || ctx.Err() != nil {
		return false
	}
	b.trials--
	return true
}
