package constraint

// Rest is what a constraint asks of other operators, given which constraints without parts its bundle meets itself. done reports that it asks
// nothing. What is not to be there, inside of an odd number of nots, is about others alone.
func (c Constraint) Rest(itself func(leaf Constraint) bool) (rest Constraint, done bool) {
	r := rester(itself)
	rest, v := r.rest(c, false)
	if v == fails { // by its form alone: it asks for what never is
		return c, false
	}
	return rest, v == holds
}

// rester reports what the bundle meets itself.
type rester func(leaf Constraint) bool

// verdict is what is known of a constraint without others; -v is the opposite of v.
type verdict int

const (
	fails verdict = iota - 1
	open
	holds
)

func (r rester) rest(c Constraint, unwanted bool) (Constraint, verdict) {
	var v verdict
	switch {
	case c.All != nil:
		c.All, v = r.list(c.All, unwanted, fails)
	case c.Any != nil:
		c.Any, v = r.list(c.Any, unwanted, holds)
	case c.Not != nil:
		c.Not, v = r.list(c.Not, !unwanted, holds)
		v = -v
	case !unwanted && r(c):
		v = holds
	}
	return c, v
}

// list leaves out the parts whose verdict decides nothing. One part with the verdict decisive decides, and without any part left the
// opposite is the verdict.
func (r rester) list(parts []Constraint, unwanted bool, decisive verdict) ([]Constraint, verdict) {
	left := make([]Constraint, 0, len(parts))
	for _, part := range parts {
		rest, v := r.rest(part, unwanted)
		switch v {
		case decisive:
			return parts, decisive
		case open:
			left = append(left, rest)
		}
	}
	if len(left) == 0 {
		return left, -decisive
	}
	return left, open
}
