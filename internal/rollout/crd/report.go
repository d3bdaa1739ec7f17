package crd

import (
	"fmt"
	"strings"
)

// What an UnsafeError says at most: statuses are limited, and nobody reads thousands of lines of one.
const (
	maxLines = 20
	maxBytes = 4096
)

// UnsafeError is why a CRD is not upgraded.
type UnsafeError struct {
	CRD string
	// Findings are all that stand in the way.
	Findings []Finding
}

// NewUnsafeError returns the findings that stand in the way as an error; nil is none.
func NewUnsafeError(crd string, findings []Finding) error {
	if blocking := Blocking(findings); len(blocking) > 0 {
		return &UnsafeError{CRD: crd, Findings: blocking}
	}
	return nil
}

// Error lists the first findings and says how many there are. Report has them all.
func (e *UnsafeError) Error() string {
	text := fmt.Sprintf("validating upgrade for CRD %q: ", e.CRD)
	for i, f := range e.Findings {
		line := f.String()
		if i >= maxLines || i > 0 && len(text)+len(line) > maxBytes {
			return text + fmt.Sprintf("\nand %d more", len(e.Findings)-i)
		}
		if i > 0 {
			text += "\n"
		}
		text += line
	}
	return text
}

// Report is everything there is to say about an upgrade, exempted findings included, with what to do about each.
func Report(crd string, findings []Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CustomResourceDefinition %s: %d findings, %d of them stand in the way\n", crd, len(findings), len(Blocking(findings)))
	for _, f := range findings {
		fmt.Fprintf(&b, "\n%s\n", f)
		if f.Exempt != "" {
			fmt.Fprintf(&b, "  %s\n", f.Exempt)
			continue
		}
		fmt.Fprintf(&b, "  to do: %s\n", f.Remedy)
	}
	return b.String()
}
