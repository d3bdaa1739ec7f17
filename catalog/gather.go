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

func newGatherer(names []string, limit int) *gatherer {
	return &gatherer{
		names:    names,
		files:    make([]gathered, len(names)),
		errors:   findings{limit: limit},
		warnings: findings{limit: limit},
	}
}

// problems records what is about no document in particular.
func (g *gatherer) problems(problems Problems) {
	g.record(place{}, problems)
}

func (g *gatherer) record(at place, problems Problems) {
	for _, p := range problems {
		if p.Severity == Error {
			g.errors.add(at, p)
		} else {
			g.warnings.add(at, p)
		}
	}
}

func (d *doubt) add(r result) {
	if d.first.problems == nil || r.place.compare(d.first.place) < 0 {
		d.first = r
	}
	d.more++
}

// settle decides about a file that has errors and need not be a catalog: one
// object makes it one.
func (g *gatherer) settle(file *gathered) {
	if file.doubt.first.problems == nil {
		return
	}
	first := file.doubt.first.problems[0]
	if len(file.objects) == 0 {
		first = Problem{
			Severity: Warning, Rule: RuleFileNotCatalog, Position: Position{File: first.Position.File},
			Message: "the file holds no object with a schema; it was passed over",
			Fix:     "list it in an .indexignore file",
		}
	} else if file.doubt.more > 1 {
		first.Message += fmt.Sprintf(" (and %d more such errors in the file)", file.doubt.more-1)
	}
	g.record(file.doubt.first.place, Problems{first})
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

func (f *findings) add(at place, p Problem) {
	f.found = append(f.found, finding{at, p})
	if len(f.found) >= 2*f.limit+16 {
		f.trim()
	}
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
