package constraint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

const (
	// MaxSize is the documented limit on the value of an olm.constraint, in bytes.
	MaxSize = 64 << 10
	// MaxDepth bounds the nesting of all, any and not.
	MaxDepth = 32
)

// Constraint is what one other operator has to be like. Exactly one of its parts is set, beside the message.
type Constraint struct {
	// FailureMessage is what the author wants to be said when nothing meets the constraint.
	FailureMessage string
	CEL            *Rule
	Package        *Package
	GVK            *catalog.GVK
	All, Any, Not  []Constraint
}

// Package asks for a bundle of a package with a version in a range.
type Package struct {
	Name  string
	Range version.Range
}

// Parse reads the value of an olm.constraint and checks all of it: its size, its form, its ranges and its rules.
func Parse(raw json.RawMessage) (*Constraint, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("olm.constraint value is greater than max constraint size %d bytes", MaxSize)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var w written
	if err := decoder.Decode(&w); err != nil {
		return nil, inWords(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows after its value")
	}
	return w.read(0)
}

// written is a constraint as its author wrote it.
type written struct {
	FailureMessage string          `json:"failureMessage"`
	CEL            *writtenRule    `json:"cel"`
	Package        *writtenPackage `json:"package"`
	GVK            *catalog.GVK    `json:"gvk"`
	All            *writtenList    `json:"all"`
	Any            *writtenList    `json:"any"`
	Not            *writtenList    `json:"not"`
}

type writtenRule struct {
	Rule string `json:"rule"`
}

type writtenPackage struct {
	PackageName  string `json:"packageName"`
	VersionRange string `json:"versionRange"`
}

type writtenList struct {
	Constraints []written `json:"constraints"`
}

func (w written) read(depth int) (*Constraint, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("it nests deeper than %d levels", MaxDepth)
	}
	if set := w.parts(); set != 1 {
		return nil, fmt.Errorf("it needs exactly one of cel, package, gvk, all, any and not, and has %d", set)
	}
	c := &Constraint{FailureMessage: w.FailureMessage, GVK: w.GVK}
	var err error
	switch {
	case w.CEL != nil:
		c.CEL, err = Compile(w.CEL.Rule)
	case w.Package != nil:
		c.Package, err = w.Package.read()
	case w.All != nil:
		c.All, err = w.All.read(depth)
	case w.Any != nil:
		c.Any, err = w.Any.read(depth)
	case w.Not != nil:
		c.Not, err = w.Not.read(depth)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (w written) parts() int {
	set := 0
	for _, is := range []bool{w.CEL != nil, w.Package != nil, w.GVK != nil, w.All != nil, w.Any != nil, w.Not != nil} {
		if is {
			set++
		}
	}
	return set
}

func (w writtenPackage) read() (*Package, error) {
	r, err := version.ParseRange(w.VersionRange)
	if err != nil {
		return nil, err
	}
	return &Package{Name: w.PackageName, Range: r}, nil
}

func (l writtenList) read(depth int) ([]Constraint, error) {
	if len(l.Constraints) == 0 {
		return nil, errors.New("a list of constraints is empty")
	}
	out := make([]Constraint, len(l.Constraints))
	for i, w := range l.Constraints {
		c, err := w.read(depth + 1)
		if err != nil {
			return nil, err
		}
		out[i] = *c
	}
	return out, nil
}
