package validate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
)

// Finding is one broken rule.
type Finding struct {
	// Severity is catalog.Error for what makes the bundle invalid, else catalog.Warning.
	Severity catalog.Severity `json:"severity"`
	// Validator is the name of the validator that has the rule.
	Validator string `json:"validator"`
	// Rule is the stable name of the rule, and Type the class of it.
	Rule bundle.Rule `json:"rule"`
	Type Type        `json:"type"`
	// File and Line are where it is, as far as known.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Object is the kind and name of the manifest, and Field the place in it.
	Object string `json:"object,omitempty"`
	Field  string `json:"field,omitempty"`
	// Message says what is wrong, and Fix what to do about it.
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// String is the finding on one line. Bundles come from outside: characters that would steer a terminal are written as escapes.
func (f Finding) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(catalog.Position{File: f.File, Line: f.Line}.String() + ": ")
	}
	b.WriteString(strings.ToLower(string(f.Severity)) + ": ")
	for _, part := range []string{f.Object, f.Field} {
		if part != "" {
			b.WriteString(part + ": ")
		}
	}
	fmt.Fprintf(&b, "%s [%s/%s]", f.Message, f.Validator, f.Rule)
	if f.Fix != "" {
		b.WriteString("; " + f.Fix)
	}
	return visible(b.String())
}

// visible writes what cannot be printed as escapes.
func visible(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// Report is the verdict on a bundle.
type Report struct {
	// Bundle is its name, empty when no ClusterServiceVersion could be read.
	Bundle string `json:"bundle,omitempty"`
	// Passed is whether no finding is an error.
	Passed bool `json:"passed"`
	// Findings are in the order of files and lines.
	Findings []Finding `json:"findings"`
}

// Errors are the findings that make the bundle invalid.
func (r Report) Errors() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Severity != catalog.Error })
}

// maxFindings is how many findings of one validator are listed.
const maxFindings = 500
