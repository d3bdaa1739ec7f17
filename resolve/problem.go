package resolve

import (
	"fmt"
)

// Var is one thing that an answer contains or does not contain: a request or a candidate.
// Vars number from 1 in the order in which the Problem first hears of them; zero is no Var.
type Var int

// Problem collects what an answer must satisfy. The zero value is an empty problem, ready for use.
//
// The answer depends on the set of clauses, on the ids and on the order of each candidate list. It does not depend on
// the order in which Vars or clauses were added. A Problem may be solved by many goroutines at once as long as none
// of them adds to it.
type Problem struct {
	ids         []string // ids[v-1] is the id of v
	index       map[string]Var
	order       []Var
	constraints []*constraint // none of them changes; problems that were made from one another share them
	seen        []int         // by Var: the last call of distinct that saw it
	distincts   int
	misuse      error    // first call with a Var of another Problem, or a negative limit; reported by Solve
	compiled    *program // of exactly these constraints, if that is known already
}

// constraint is a clause in the caller's terms, before it is lowered to literals.
type constraint struct {
	kind    Kind
	subject Var   // the Var that the clause is about; zero for Conflict and AtMost
	others  []Var // candidates of a dependency, members of a conflict or an at-most clause; no duplicates
	limit   int   // AtMost only
	formula Formula
	origin  Origin
}

// Var returns the Var with this id, new or known.
func (p *Problem) Var(id string) Var {
	if p.index == nil {
		p.index = make(map[string]Var, len(p.ids)+1)
		for i, known := range p.ids {
			p.index[known] = Var(i + 1)
		}
	}
	if v, ok := p.index[id]; ok {
		return v
	}
	p.ids = append(p.ids, id)
	v := Var(len(p.ids))
	p.index[id] = v
	return v
}

// Find returns the Var with this id, if the problem has heard of it.
func (p *Problem) Find(id string) (Var, bool) {
	v, ok := p.index[id]
	return v, ok
}

// ID returns the id of v, or "" when v is not of this Problem.
func (p *Problem) ID(v Var) string {
	if v < 1 || int(v) > len(p.ids) {
		return ""
	}
	return p.ids[v-1]
}

// Order says which requests are visited first, and in which order. Requests that are never named here come after
// those that are, by id. Repeated calls add to the end; repeated Vars keep their first place.
func (p *Problem) Order(vs ...Var) {
	p.check("Order", vs...)
	p.order = append(p.order, vs...)
}

// Require makes v mandatory. Such a v is a request.
func (p *Problem) Require(v Var, o Origin) {
	p.add(constraint{kind: Mandatory, subject: v, origin: o})
}

// Forbid keeps v out of every answer.
func (p *Problem) Forbid(v Var, o Origin) {
	p.add(constraint{kind: Prohibited, subject: v, origin: o})
}

// Depends says that v needs at least one of the candidates, the most wanted first. Without candidates v is impossible.
func (p *Problem) Depends(v Var, candidates []Var, o Origin) {
	p.add(constraint{kind: Dependency, subject: v, others: p.distinct(candidates), origin: o})
}

// Conflict says that a and b exclude each other. A Var in conflict with itself is impossible.
func (p *Problem) Conflict(a, b Var, o Origin) {
	members := []Var{a, b}
	if a == b {
		members = members[:1]
	}
	p.add(constraint{kind: Conflicting, others: members, limit: len(members) - 1, origin: o})
}

// AtMostOne says that no two of vs are in an answer together.
func (p *Problem) AtMostOne(vs []Var, o Origin) { p.AtMost(1, vs, o) }

// AtMost says that no more than k of vs are in an answer together. Repeated Vars count once.
func (p *Problem) AtMost(k int, vs []Var, o Origin) {
	if k < 0 && p.misuse == nil {
		p.misuse = fmt.Errorf("resolve: AtMost was called with the negative limit %d for %q: give 0 or more", k, o.Text)
	}
	p.add(constraint{kind: Limited, others: p.distinct(vs), limit: k, origin: o})
}

// Formula says that v needs f to hold. Inside Any, the most wanted alternative comes first.
func (p *Problem) Formula(v Var, f Formula, o Origin) {
	p.add(constraint{kind: Compound, subject: v, formula: f, origin: o})
}

func (p *Problem) add(c constraint) {
	if c.kind != Conflicting && c.kind != Limited {
		p.check(string(c.kind), c.subject)
	}
	p.check(string(c.kind), c.others...)
	p.constraints, p.compiled = append(p.constraints, &c), nil
}

func (p *Problem) check(what string, vs ...Var) {
	for _, v := range vs {
		if (v < 1 || int(v) > len(p.ids)) && p.misuse == nil {
			p.misuse = fmt.Errorf("resolve: %s was given Var %d, but the problem has %d: take Vars from Problem.Var", what, v, len(p.ids))
		}
	}
}

// distinct returns vs without repetitions, in the order of first appearance, in memory of its own.
func (p *Problem) distinct(vs []Var) []Var {
	p.check("a list", vs...)
	if p.misuse != nil {
		return nil
	}
	p.distincts++
	for len(p.seen) <= len(p.ids) {
		p.seen = append(p.seen, 0)
	}
	out := make([]Var, 0, len(vs))
	for _, v := range vs {
		if p.seen[v] != p.distincts {
			p.seen[v] = p.distincts
			out = append(out, v)
		}
	}
	return out
}

// Origin tells where a clause comes from, so that an explanation can name what to edit.
type Origin struct {
	// Object is what holds the rule, such as "Subscription operators/etcd" or the name of a bundle.
	Object string `json:"object,omitempty"`
	// Field is the place inside Object, such as "spec.channel" or "properties[3]". The needs of one Var are visited
	// in the order of their Fields, digits compared as numbers.
	Field string `json:"field,omitempty"`
	// Catalog and Digest name the content that the rule was read from.
	Catalog string `json:"catalog,omitempty"`
	Digest  string `json:"digest,omitempty"`
	// Text is the rule as a sentence for people, without a full stop.
	Text string `json:"text"`
	// Alike, if any, is the rule without its subject. Rules that share it are told on one line, such as the same
	// missing package for each version of an operator.
	Alike string `json:"-"`
	// Hint, if any, says what to do when this rule stands in the way.
	Hint string `json:"hint,omitempty"`
}

// Kind is the sort of a clause.
type Kind string

const (
	Mandatory   Kind = "mandatory"  // Subject must be selected
	Prohibited  Kind = "prohibited" // Subject must not be selected
	Dependency  Kind = "dependency" // Subject needs one of Others
	Conflicting Kind = "conflict"   // the two Others exclude each other
	Limited     Kind = "atMost"     // at most Limit of Others
	Compound    Kind = "compound"   // Subject needs a formula over Others
	Assumed     Kind = "assumed"    // Subject was chosen earlier or is being asked about (WhyNot only)
)

// Clause is one rule of a problem, by ids: the machine form of an explanation.
type Clause struct {
	Kind    Kind     `json:"kind"`
	Subject string   `json:"subject,omitempty"`
	Others  []string `json:"others,omitempty"`
	Limit   int      `json:"limit,omitempty"`
	Origin  Origin   `json:"origin"`
}

// Formula is a boolean expression over Vars. The zero value holds always: it is All of nothing.
type Formula struct {
	op       operator
	variable Var
	parts    []Formula
}

type operator uint8

const (
	opAll operator = iota
	opAny
	opNot
	opLit
)

// Lit holds when v is in the answer.
func Lit(v Var) Formula { return Formula{op: opLit, variable: v} }

// All holds when every part holds. The parts are visited in order.
func All(parts ...Formula) Formula { return Formula{op: opAll, parts: parts} }

// Any holds when at least one part holds. The most wanted part comes first; without parts it never holds.
func Any(parts ...Formula) Formula { return Formula{op: opAny, parts: parts} }

// Not holds when f does not. Not(Any(...)) says that none of the parts holds.
func Not(f Formula) Formula { return Formula{op: opNot, parts: []Formula{f}} }
