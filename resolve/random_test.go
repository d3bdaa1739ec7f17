package resolve

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// maxSmall bounds the Vars of problems that the oracle is asked about.
const maxSmall = 8

// reader hands out numbers from bytes; zeros when they are used up.
type reader []byte

func (r *reader) below(n int) int {
	if len(*r) == 0 {
		return 0
	}
	b := (*r)[0]
	*r = (*r)[1:]
	return int(b) % n
}

func (r *reader) vars(p *Problem, n int) []Var {
	vs := make([]Var, n)
	for i := range vs {
		vs[i] = r.variable(p)
	}
	return vs
}

func (r *reader) variable(p *Problem) Var { return Var(1 + r.below(len(p.ids))) }

func (r *reader) formula(p *Problem, depth int) Formula {
	kind := r.below(8)
	if depth == 0 || kind < 4 {
		return Lit(r.variable(p))
	}
	if kind == 4 {
		return Not(r.formula(p, depth-1))
	}
	parts := make([]Formula, r.below(4))
	for i := range parts {
		parts[i] = r.formula(p, depth-1)
	}
	if kind == 5 {
		return All(parts...)
	}
	return Any(parts...)
}

// decode makes a small problem of any bytes. Each clause has a text and a Field of its own.
func decode(data []byte) *Problem {
	r := reader(data)
	p := &Problem{}
	for i := range 2 + r.below(maxSmall-1) {
		p.Var(fmt.Sprintf("v%d", i))
	}
	p.Order(r.vars(p, r.below(3))...)
	p.Require(r.variable(p), Origin{Field: "needs[0]", Text: "clause 0"})
	for i := 1; len(r) > 0 && i < 24; i++ {
		o := Origin{Field: fmt.Sprintf("needs[%d]", r.below(16)*32+i), Text: fmt.Sprintf("clause %d", i)}
		switch r.below(12) {
		case 0, 1:
			p.Require(r.variable(p), o)
		case 2:
			p.Forbid(r.variable(p), o)
		case 3, 4:
			p.Conflict(r.variable(p), r.variable(p), o)
		case 5:
			p.AtMost(r.below(4), r.vars(p, r.below(6)), o)
		case 6, 7:
			p.Formula(r.variable(p), r.formula(p, 4), o)
		default:
			p.Depends(r.variable(p), r.vars(p, r.below(5)), o)
		}
	}
	return p
}

// packages makes a problem such as a catalog gives: some packages of several versions, of which one each may be
// selected, that need versions of each other and now and then clash, and a few requests.
func packages(rnd *rand.Rand) *Problem {
	p := &Problem{}
	clauses := 0
	origin := func() Origin {
		clauses++
		return Origin{Field: fmt.Sprintf("needs[%d]", clauses), Text: fmt.Sprintf("clause %d", clauses)}
	}
	versions := make([][]Var, 5+rnd.IntN(5))
	var all []Var
	for i := range versions {
		for j := range 2 + rnd.IntN(4) {
			versions[i] = append(versions[i], p.Var(fmt.Sprintf("package%d.v%d", i, j)))
		}
		p.AtMostOne(versions[i], origin())
		all = append(all, versions[i]...)
	}
	some := func(vs []Var) []Var {
		vs = slices.Clone(vs)
		rnd.Shuffle(len(vs), func(i, j int) { vs[i], vs[j] = vs[j], vs[i] })
		return vs[:1+rnd.IntN(len(vs))]
	}
	for i := range 3 + rnd.IntN(len(versions)-2) {
		request := p.Var(fmt.Sprintf("request%d", i))
		p.Require(request, origin())
		p.Depends(request, versions[i], origin())
	}
	for _, v := range all {
		for range rnd.IntN(2) {
			p.Depends(v, some(versions[rnd.IntN(len(versions))]), origin())
		}
	}
	one := func() Formula { return Lit(some(all)[0]) }
	for range rnd.IntN(6) {
		p.Formula(some(all)[0], Any(All(one(), Any(one(), Not(one()))), All(one(), one()), one(), Not(one())), origin())
	}
	for range (5 + rnd.IntN(8)) * len(versions) {
		p.Conflict(some(all)[0], some(all)[0], origin())
	}
	return p
}

// texts returns the texts of clauses, a name for each.
func texts(core []Clause) []string {
	var out []string
	for _, c := range core {
		out = append(out, c.Origin.Text)
	}
	return out
}

// withTexts returns p with only the constraints that have these texts.
func (p *Problem) withTexts(names []string) *Problem {
	// Return p with the constraints that keep accepts.
	keep := func(c *constraint) bool { return slices.Contains(names, c.origin.Text) }
	q := &Problem{ids: p.ids, order: p.order}
	for _, c := range p.constraints {
		if keep(c) {
			q.constraints = append(q.constraints, c)
		}
	}
	return q
}

func (p *Problem) String() string {
	var b strings.Builder
	for _, v := range p.Requests() {
		fmt.Fprintf(&b, "request %s\n", p.ID(v))
	}
	for _, c := range p.constraints {
		fmt.Fprintf(&b, "%s %s %s %v <=%d %+v\n", c.origin.Field, c.kind, p.ID(c.subject), c.others, c.limit, c.formula)
	}
	return b.String()
}
