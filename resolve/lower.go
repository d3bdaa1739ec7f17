package resolve

import "fmt"

// token is one node of a formula in negation normal form, in the order of a walk from the root that visits parents
// before their parts.
type token struct {
	op       operator // opAll, opAny or opLit
	negated  bool     // of opLit
	parts    int32    // of opAll and opAny
	variable int32    // of opLit: its Var
}

// stepsPerToken is what one node of a formula costs. Small formulas can share parts and have any number of nodes, so
// the budget bounds memory through it.
const stepsPerToken = 32

// flatten writes f in negation normal form, without recursion, so that its depth cannot hurt.
func (c *compiler) flatten(f Formula) ([]token, error) {
	type open struct {
		Formula
		negated bool
	}
	var tokens []token
	for stack := []open{{Formula: f}}; len(stack) > 0; {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !c.b.spend(stepsPerToken) {
			return nil, c.b.err
		}
		if top.op == opLit && c.p.ID(top.variable) == "" {
			return nil, fmt.Errorf("resolve: a formula has Var %d, but the problem has %d: take Vars from Problem.Var", top.variable, len(c.p.ids))
		}
		if top.op == opNot {
			stack = append(stack, open{top.parts[0], !top.negated})
			continue
		}
		op := top.op
		if top.negated && op == opAll {
			op = opAny
		} else if top.negated && op == opAny {
			op = opAll
		}
		tokens = append(tokens, token{op: op, parts: int32(len(top.parts)), variable: int32(top.variable), negated: top.op == opLit && top.negated})
		for i := len(top.parts) - 1; i >= 0; i-- {
			stack = append(stack, open{top.parts[i], top.negated})
		}
	}
	return tokens, nil
}

// nesting is an All or Any whose parts are being read.
type nesting struct {
	parts int32 // still to come
	need  int32 // of Any: the clause that its parts become options of; -1 for All
	guard int32 // of All: the variable that needs every part
}

// lower turns the formula that x needs into needs. All becomes one need a part; Any becomes one need; an All inside an
// Any becomes an option of its own, an auxiliary variable that needs the parts.
func (c *compiler) lower(x, source int32, tokens []token) {
	stack := []nesting{{parts: 1, need: -1, guard: x}}
	for _, t := range tokens {
		for stack[len(stack)-1].parts == 0 {
			stack = stack[:len(stack)-1]
		}
		top := &stack[len(stack)-1]
		top.parts--
		switch inAny := top.need >= 0; {
		case t.op == opLit && inAny:
			c.option(top.need, c.literal(t))
		case t.op == opLit:
			c.option(c.pr.addNeed(top.guard, source, 1), c.literal(t))
		case t.op == opAny && inAny:
			stack = append(stack, nesting{parts: t.parts, need: top.need})
		case t.op == opAny:
			stack = append(stack, nesting{parts: t.parts, need: c.pr.addNeed(top.guard, source, int(t.parts))})
		case inAny:
			aux := c.newVariable(0)
			c.option(top.need, positive(aux))
			stack = append(stack, nesting{parts: t.parts, need: -1, guard: aux})
		default:
			stack = append(stack, nesting{parts: t.parts, need: -1, guard: top.guard})
		}
	}
}

// literal returns the literal of a leaf. What is only ever mentioned as absent needs no rules of its own.
func (c *compiler) literal(t token) lit {
	if t.negated {
		return negative(c.variable(Var(t.variable)))
	}
	return positive(c.reach(Var(t.variable)))
}
