package resolve

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
)

const (
	maxReasons  = 6   // lines of reasons in Error; with the conclusion and a hint there are eight
	maxTextSize = 400 // bytes of one reason in Error
)

// Error tells the chain of reasons in at most eight lines, then what to do if the last origin that can tell does.
func (u *Unsatisfiable) Error() string {
	var out strings.Builder
	var lines []string
	for _, r := range u.Reasons() {
		line := safetext.Line(r.Origin.Text, maxTextSize)
		if r.More > 0 {
			line += fmt.Sprintf(" (and %d more alike)", r.More)
		}
		lines = append(lines, line)
	}
	if head, tail := maxReasons/2, maxReasons-maxReasons/2-1; len(lines) > maxReasons { // the middle is left out
		lines = slices.Concat(lines[:head], []string{fmt.Sprintf("%d more reasons in between", len(lines)-head-tail)}, lines[len(lines)-tail:])
	}
	for i, line := range lines {
		if i == 0 {
			out.WriteString("because ")
		} else {
			out.WriteString("and ")
		}
		out.WriteString(line + "\n")
	}
	out.WriteString("there is no solution")
	for i := len(u.Core) - 1; i >= 0; i-- {
		if hint := u.Core[i].Origin.Hint; hint != "" {
			out.WriteString("\n" + safetext.Line(hint, maxTextSize))
			break
		}
	}
	return out.String()
}

// Reason is one line of an explanation: a clause, and how many more of the core say the same of other subjects.
type Reason struct {
	Clause
	More int
}

// Reasons returns the core with clauses that say the same of different subjects put together.
func (u *Unsatisfiable) Reasons() []Reason {
	place := make(map[kinship]int)
	var out []Reason
	for i := range u.Core {
		// What clauses that belong on one line share: the rule that the caller named, or the same kind and the same candidates.
		k := kinship{single: i + 1}
		switch c := &u.Core[i]; {
		case c.Origin.Alike != "":
			k = kinship{rule: c.Origin.Alike}
		case c.Kind == Dependency && len(c.Others) > 0:
			k = kinship{needs: strings.Join(c.Others, "\x00")}
		}
		if first, known := place[k]; known {
			out[first].More++
			continue
		}
		place[k] = len(out)
		out = append(out, Reason{Clause: u.Core[i]})
	}
	return out
}

// kinship is what clauses on one line have in common.
type kinship struct {
	rule, needs string
	single      int // the only one of its line, from 1
}
