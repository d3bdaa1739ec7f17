package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"fairlead.dev/fairlead/catalog/safetext"
)

// Severity tells whether a problem makes something unusable.
type Severity string

const (
	// Error marks what breaks the rules of catalogs.
	Error Severity = "Error"
	// Warning marks what works but is probably not what the author meant.
	Warning Severity = "Warning"
)

// Object names what a problem is about.
type Object struct {
	Schema  string `json:"schema,omitempty"`
	Package string `json:"package,omitempty"`
	Name    string `json:"name,omitempty"`
}

// String names the object in a sentence, such as `channel "c" of package "p"`.
func (o Object) String() string {
	kind := strings.TrimPrefix(o.Schema, "olm.")
	switch o.Schema {
	case "":
		return ""
	case SchemaPackage:
		return "package " + safetext.Quote(o.Name)
	case SchemaChannel, SchemaBundle, SchemaDeprecations:
	default:
		kind = "object of schema " + safetext.Quote(o.Schema)
	}
	if o.Name != "" {
		kind += " " + safetext.Quote(o.Name)
	}
	if o.Package != "" {
		kind += " of package " + safetext.Quote(o.Package)
	}
	return kind
}

// Problem is one broken rule.
type Problem struct {
	Severity Severity `json:"severity"`
	Rule     Rule     `json:"rule"`
	Object   Object   `json:"object"`
	Position Position `json:"position"`
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"`
}

// String is the problem in one line: where, what, why, and what to do.
func (p Problem) String() string {
	var b strings.Builder
	if p.Position != (Position{}) {
		b.WriteString(p.Position.String() + ": ")
	}
	b.WriteString(strings.ToLower(string(p.Severity)) + ": ")
	if object := p.Object.String(); object != "" {
		b.WriteString(object + ": ")
	}
	fmt.Fprintf(&b, "%s [%s]", p.Message, p.Rule)
	if p.Fix != "" {
		b.WriteString("; " + p.Fix)
	}
	return b.String()
}

// Problems is a list of them. Those returned here are in the order of file and
// line.
type Problems []Problem

// Errors are the problems of severity Error.
func (p Problems) Errors() Problems {
	var errors Problems
	for _, problem := range p {
		if problem.Severity == Error {
			errors = append(errors, problem)
		}
	}
	return errors
}

// Err is an *InvalidError with the problems of severity Error, or nil if there
// are none.
func (p Problems) Err() error {
	if errors := p.Errors(); len(errors) > 0 {
		return &InvalidError{Problems: errors}
	}
	return nil
}

// sort orders by position and leaves what is at one position in its order.
func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Position.File, b.Position.File), cmp.Compare(a.Position.Line, b.Position.Line))
	})
}

// String is "file:line", or the file alone. The name of a file comes from
// outside: one that could write more to a terminal than itself is quoted.
func (p Position) String() string {
	file := p.File
	if strings.ContainsFunc(file, func(r rune) bool { return !unicode.IsPrint(r) }) {
		file = safetext.Quote(file)
	}
	if p.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, p.Line)
}

// InvalidError says that a catalog has problems, and which.
type InvalidError struct {
	Problems Problems
}

// listed is how many problems the text of an InvalidError lists.
const listed = 20

func (e *InvalidError) Error() string {
	var lines []string
	var more Problems // say how many are not even in the list
	for _, p := range e.Problems {
		if p.Rule == RuleMoreProblems {
			more = append(more, p)
		} else if len(lines) < listed {
			lines = append(lines, p.String())
		}
	}
	if n := len(e.Problems) - len(more); n > len(lines) {
		lines = append(lines, fmt.Sprintf("and %d more", n-len(lines)))
	}
	for _, p := range more {
		lines = append(lines, p.Message)
	}
	if len(lines) > 1 {
		lines = append([]string{fmt.Sprintf("%d problems:", len(e.Problems)-len(more))}, lines...)
	}
	return strings.Join(lines, "\n")
}
