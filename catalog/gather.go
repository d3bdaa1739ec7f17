package catalog

import (
	"cmp"
	"fmt"
	"slices"
)

// gatherer collects results in any order and makes a catalog in the order of
// files and documents.
type gatherer struct {
	names    []string // of the files
	files    []gathered
	errors   findings
	warnings findings
	spool    *spool // for lines, if they are wanted
}

// gathered is what was found in a file.
type gathered struct {
	objects []result
	doubt   doubt // used if the file need not be a catalog
}

// doubt is the first of a file's errors, until it is known whether the file
// is part of the catalog.
type doubt struct {
	first result
	more  int
}

// record keeps problems; the place of those about no document in particular is zero.
func (g *gatherer) record(at place, problems Problems) {
	for _, p := range problems {
		to := &g.warnings
		if p.Severity == Error {
			to = &g.errors
		}
		to.found = append(to.found, finding{at, p})
		if len(to.found) >= 2*to.limit+16 {
			to.trim()
		}
	}
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.file, o.file), cmp.Compare(p.document, o.document))
}

// findings keeps the first problems by place, whatever order they come in, and
// counts the rest.
type findings struct {
	limit   int
	found   []finding
	dropped int
}

type finding struct {
	place   place
	problem Problem
}

func (f *findings) trim() {
	slices.SortStableFunc(f.found, func(a, b finding) int { return a.place.compare(b.place) })
	if n := len(f.found) - f.limit; n > 0 {
		clear(f.found[f.limit:])
		f.found = f.found[:f.limit]
		f.dropped += n
	}
}

func (f *findings) list(severity Severity) Problems {
	f.trim()
	var problems Problems
	for _, found := range f.found {
		problems = append(problems, found.problem)
	}
	problems.sort()
	if f.dropped > 0 {
		problems = append(problems, Problem{
			Severity: severity, Rule: RuleMoreProblems, Position: problems[len(problems)-1].Position,
			Message: fmt.Sprintf("%d more problems like these are not listed", f.dropped),
			Fix:     "correct those that are, and try again",
		})
	}
	return problems
}
