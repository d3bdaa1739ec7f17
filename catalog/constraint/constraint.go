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

// Constraint is what an operator has to be like. Exactly one of its parts is set, beside the message. A list may be empty: an empty All
// and an empty Not always hold, an empty Any never does.
type Constraint struct {
	// FailureMessage is what the author wants to be reported when nothing meets the constraint.
	FailureMessage string
	CEL            *Rule
	Package        *Package
	GVK            *catalog.GVK
	All, Any, Not  []Constraint

	doubts []Doubt // of the form in which it is written
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
	r := formReader{}
	c, err := r.read(w, "", 0)
	if err != nil {
		return nil, err
	}
	c.doubts = r.doubts
	return c, nil
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
	// Name is how the examples of the manuals write packageName.
	Name string `json:"name"`
}

type writtenList struct {
	Constraints []written `json:"constraints"`
}
