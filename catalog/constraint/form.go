package constraint

import (
	"errors"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/version"
)

// Doubt is something about a constraint that is accepted and is probably not what its author means.
type Doubt struct {
	// Place is the part that it is about, such as "all #2, not #1"; empty for the whole constraint.
	Place string
	// Text says what it is, and Fix what to write instead.
	Text, Fix string
}

// String is the doubt with its place.
func (d Doubt) String() string {
	if d.Place == "" {
		return d.Text
	}
	return d.Place + ": " + d.Text
}

// formReader turns what is written into constraints. It accepts every form that clusters have accepted so far, with the meaning that it has
// there, and collects the doubtful ones.
type formReader struct{ doubts []Doubt }

func (r *formReader) doubt(place, fix, format string, args ...any) {
	r.doubts = append(r.doubts, Doubt{Place: place, Text: fmt.Sprintf(format, args...), Fix: fix})
}

func (r *formReader) read(w written, place string, depth int) (*Constraint, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("it nests deeper than %d levels", MaxDepth)
	}
	// Those that a constraint has, the one that counts first.
	var kinds []string
	for _, k := range []struct {
		name  string
		there bool
	}{{kindGVK, w.GVK != nil}, {kindPackage, w.Package != nil}, {kindAll, w.All != nil}, {kindAny, w.Any != nil}, {kindNot, w.Not != nil}, {kindCEL, w.CEL != nil}} {
		if k.there {
			kinds = append(kinds, k.name)
		}
	}
	switch {
	case len(kinds) == 0:
		return nil, errors.New("constraint is empty: it needs one of gvk, package, all, any, not and cel")
	case len(kinds) > 1:
		verb := "is"
		if len(kinds) > 2 {
			verb = "are"
		}
		r.doubt(place, "keep one of them, or put each into a constraint of an all", "it has %s; %s counts and %s %s passed over",
			strings.Join(kinds, " and "), kinds[0], strings.Join(kinds[1:], " and "), verb)
	}
	c := &Constraint{FailureMessage: w.FailureMessage}
	var err error
	switch kinds[0] {
	case kindGVK:
		c.GVK = w.GVK
	case kindPackage:
		c.Package, err = r.pkg(*w.Package, place)
	case kindAll:
		c.All, err = r.list(w.All, place, kindAll, depth)
	case kindAny:
		c.Any, err = r.list(w.Any, place, kindAny, depth)
	case kindNot:
		c.Not, err = r.list(w.Not, place, kindNot, depth)
	case kindCEL:
		c.CEL, err = Compile(w.CEL.Rule)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// The kinds of constraints. Of several in one constraint the first in this order counts.
const (
	kindGVK     = "gvk"
	kindPackage = "package"
	kindAll     = "all"
	kindAny     = "any"
	kindNot     = "not"
	kindCEL     = "cel"
)

func (r *formReader) pkg(w writtenPackage, place string) (*Package, error) {
	name := w.PackageName
	switch {
	case w.Name == "":
	case name == "" || name == w.Name:
		name = w.Name
		r.doubt(place, "write packageName", "the package is named by the field name, which other tools refuse")
	default:
		return nil, fmt.Errorf("package has packageName %q and name %q: remove name", name, w.Name)
	}
	versions, err := version.ParseRange(w.VersionRange)
	if err != nil {
		return nil, err
	}
	return &Package{Name: name, Range: versions}, nil
}

// list reads the constraints of an all, any or not; the result is never nil.
func (r *formReader) list(l *writtenList, place, kind string, depth int) ([]Constraint, error) {
	if len(l.Constraints) == 0 {
		holds := "always holds"
		if kind == kindAny {
			holds = "never holds"
		}
		r.doubt(place, "add constraints to it, or remove it", "%s has no constraints, so it %s", kind, holds)
	}
	out := make([]Constraint, len(l.Constraints))
	for i, w := range l.Constraints {
		c, err := r.read(w, inside(place, kind, i), depth+1)
		if err != nil {
			return nil, err
		}
		out[i] = *c
	}
	return out, nil
}

// inside is the place of a part of a list.
func inside(place, kind string, i int) string {
	part := fmt.Sprintf("%s #%d", kind, i+1)
	if place == "" {
		return part
	}
	return place + ", " + part
}
