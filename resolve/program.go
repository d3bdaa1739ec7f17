package resolve

// lit is a variable of a program or its negation: 2v, or 2v+1 when negated.
type lit int32

func positive(v int32) lit { return lit(v << 1) }
func negative(v int32) lit { return lit(v<<1 | 1) }

func (l lit) not() lit      { return l ^ 1 }
func (l lit) variable() int { return int(l >> 1) }
func (l lit) negated() bool { return l&1 == 1 }

// clause is a disjunction of literals, or, when limit is not zero, an upper bound on how many of them are true.
// The first literal of a need is its negated guard; the others are its options, the most wanted first.
type clause struct {
	lits   []lit
	limit  int32
	need   bool    // the first literal is a negated guard, the others are options
	source int32   // index in program.sources; -1 for learned clauses
	causes []int32 // of learned clauses: the clauses it follows from, and as ^v the variables fixed without any decision
}

// program is the part of a problem that its requests can reach, in canonical numbering and as clauses over literals.
// Variables are numbered as the requests reach them, so that nothing depends on the order of insertion.
// A program is immutable once compiled.
type program struct {
	names    []Var // the caller's Var of each variable; zero for the auxiliaries that stand for a part of a formula
	clauses  []clause
	needs    [][]int32 // by variable: the clauses that must be met when it is selected, in the order of visiting
	requests []int32   // the clauses of one positive literal that start the walk, in order
	sources  []source
	left     *absent // what was left out afterwards; nil for nothing
}

// source is where clauses come from: one rule of the caller, or an assumption of WhyNot.
type source struct {
	rule    *constraint // nil for an assumption
	members []lit       // of a conflict or an upper bound: the members that can be reached
	leaves  []Var       // of a formula: what it mentions, in order
	assumed *Clause     // of an assumption
}

// variable adds a variable.
func (pr *program) variable(name Var) int32 {
	pr.names = append(pr.names, name)
	pr.needs = append(pr.needs, nil)
	return int32(len(pr.names) - 1)
}

// add appends a clause and returns its number.
func (pr *program) add(c clause) int32 {
	pr.clauses = append(pr.clauses, c)
	return int32(len(pr.clauses) - 1)
}

// addNeed appends an open need of guard.
func (pr *program) addNeed(guard, source int32, options int) int32 {
	lits := append(make([]lit, 0, options+1), negative(guard))
	n := pr.add(clause{lits: lits, need: true, source: source})
	pr.needs[guard] = append(pr.needs[guard], n)
	return n
}
