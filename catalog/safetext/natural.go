package safetext

import (
	"cmp"
	"strings"
)

// Natural compares names as people order them: numbers in them count as numbers, so that stable-v2 comes before stable-v10, and 4.9 before 4.10. It is 0 for
// equal names alone.
func Natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if digit(x[0]) && digit(y[0]) {
			m, n := number(x), number(y)
			p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[m:], y[n:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// number is how many digits a text begins with.
func number(s string) int {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return n
}
