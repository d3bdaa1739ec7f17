package resolve

import (
	"cmp"
	"slices"
	"strings"
)

// compareRules orders the rules about one subject: by Field, then by content, then by the rest of the origin. Rules
// that compare equal are the same in everything that can be observed.
func (p *Problem) compareRules(a, b rule) int {
	byID := func(v, w Var) int { return cmp.Compare(p.ids[v-1], p.ids[w-1]) }
	byToken := func(s, t token) int {
		if c := cmp.Or(cmp.Compare(s.op, t.op), cmp.Compare(s.parts, t.parts)); c != 0 || s.op != opLit {
			return c
		}
		if c := byID(Var(s.variable), Var(t.variable)); c != 0 || s.negated == t.negated {
			return c
		}
		if t.negated {
			return -1
		}
		return 1
	}
	if c := cmp.Or(compareNatural(a.origin.Field, b.origin.Field), cmp.Compare(a.kind, b.kind)); c != 0 {
		return c
	}
	return cmp.Or(
		slices.CompareFunc(a.others, b.others, byID),
		slices.CompareFunc(a.tokens, b.tokens, byToken),
		compareOrigins(a.origin, b.origin))
}

func compareOrigins(a, b Origin) int {
	return cmp.Or(
		compareNatural(a.Field, b.Field),
		cmp.Compare(a.Object, b.Object),
		cmp.Compare(a.Catalog, b.Catalog),
		cmp.Compare(a.Digest, b.Digest),
		cmp.Compare(a.Text, b.Text),
		cmp.Compare(a.Alike, b.Alike),
		cmp.Compare(a.Hint, b.Hint))
}

// compareNatural compares strings, but runs of digits in them as numbers: "properties[9]" is before "properties[10]".
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		m, n := digits(a), digits(b)
		if m == 0 || n == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:m], "0"), strings.TrimLeft(b[:n], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(m, n)); c != 0 {
			return c
		}
		a, b = a[m:], b[n:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns the length of the run of digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
