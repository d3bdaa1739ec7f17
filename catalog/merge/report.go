package merge

import (
	"fmt"
	"io"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// Report says what was left out of a merged catalog.
type Report struct {
	// Decided are the packages that sources disagreed about, by name.
	Decided []Decision `json:"decided"`
	// Repeated are the objects that were the same in another place.
	Repeated []Repeated `json:"repeated"`
}

// Decision is about a package that was taken from one source.
type Decision struct {
	Package string    `json:"package"`
	From    string    `json:"from"`
	Dropped []Dropped `json:"dropped"` // in the order of the sources
}

// Dropped is what was left out of a source.
type Dropped struct {
	Source  string           `json:"source"`
	Objects []catalog.Object `json:"objects"`
}

// Repeated is an object that occurs again.
type Repeated struct {
	Object catalog.Object   `json:"object"`
	Kept   catalog.Position `json:"kept"`
	Left   catalog.Position `json:"left"`
}

// Write writes the report for people; nothing if nothing was left out.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	for _, d := range r.Decided {
		fmt.Fprintf(&b, "package %q: taken from %s\n", d.Package, d.From)
		for _, dropped := range d.Dropped {
			fmt.Fprintf(&b, "  left out of %s:\n", dropped.Source)
			for _, o := range dropped.Objects {
				fmt.Fprintf(&b, "    %s\n", o)
			}
		}
	}
	for _, same := range r.Repeated {
		fmt.Fprintf(&b, "%s: the same at %s and %s\n", same.Object, same.Kept, same.Left)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Conflict is an object that two places say different things about.
type Conflict struct {
	Object        catalog.Object
	First, Second catalog.Position

	pkg string
}

// ConflictError says that sources disagree.
type ConflictError struct {
	Conflicts []Conflict
	Sources   int // how many were to be merged
}

func (e *ConflictError) Error() string {
	lines := make([]string, len(e.Conflicts))
	for i, c := range e.Conflicts {
		lines[i] = fmt.Sprintf("%s: at %s and, differently, at %s", c.Object, c.First, c.Second)
	}
	return fmt.Sprintf("merge %d catalogs: %d objects are defined in more than one way:\n  %s\n"+
		"remove one of each, or say that the first or the last catalog is to be preferred", e.Sources, len(lines), safetext.List(lines, 20, "\n  "))
}
