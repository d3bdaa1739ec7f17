package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/constraint"
	"fairlead.dev/fairlead/version"
)

// needsOf reads what something needs of others, in the order of its properties by type. What it meets itself it does not need.
func (b *builder) needsOf(f *fact) []need {
	var all []need
	count := map[string]int{}
	for _, p := range f.properties {
		if !IsNeed(p) {
			continue
		}
		count[p.Type]++
		n := need{kind: p.Type, field: fmt.Sprintf("properties, %s #%d", p.Type, count[p.Type])}
		if n.what, n.err = b.readNeed(p); n.err == nil {
			var done bool
			n.what, done = n.what.Rest(func(leaf constraint.Constraint) bool { return b.meets(leaf, f) })
			if done {
				continue
			}
		}
		all = append(all, n)
	}
	return all
}

func (b *builder) readNeed(p catalog.Property) (constraint.Constraint, error) {
	key := p.Type + " " + string(p.Value)
	known, ok := b.rules[key]
	if !ok {
		known.Constraint, known.err = parseNeed(p)
		b.rules[key] = known
	}
	if known.err != nil {
		return constraint.Constraint{}, known.err
	}
	return *known.Constraint, nil
}

func parseNeed(p catalog.Property) (*constraint.Constraint, error) {
	switch p.Type {
	case catalog.PropertyGVKRequired:
		var gvk catalog.GVK
		err := json.Unmarshal(p.Value, &gvk)
		return &constraint.Constraint{GVK: &gvk}, err
	case catalog.PropertyPackageRequired:
		var required struct{ PackageName, VersionRange string }
		if err := json.Unmarshal(p.Value, &required); err != nil {
			return nil, err
		}
		r, err := version.ParseRange(required.VersionRange)
		return &constraint.Constraint{Package: &constraint.Package{Name: required.PackageName, Range: r}}, err
	case catalog.PropertyLabelRequired:
		var required struct{ Label string }
		if err := json.Unmarshal(p.Value, &required); err != nil || required.Label == "" {
			return nil, errors.New("it names no label")
		}
		rule, err := constraint.Compile(fmt.Sprintf("properties.exists(p, p.type == %q && p.value.label == %q)", catalog.PropertyLabel, required.Label))
		return &constraint.Constraint{CEL: rule, FailureMessage: "label " + required.Label}, err
	}
	return constraint.Parse(p.Value)
}

// describe is a constraint in words.
func describe(c constraint.Constraint) string {
	text := ""
	switch {
	case c.GVK != nil:
		text = "an operator providing " + c.GVK.String()
	case c.Package != nil:
		text = fmt.Sprintf("an operator from package %s with version in range %s", c.Package.Name, c.Package.Range)
	case c.CEL != nil:
		text = fmt.Sprintf("an operator with constraint: %q", c.CEL.Text)
	case c.All != nil:
		text = "(" + texts(c.All, " and ") + ")"
	case c.Any != nil && len(c.Any) == 0:
		text = "one of no constraints"
	case c.Any != nil:
		text = "(" + texts(c.Any, " or ") + ")"
	case c.Not != nil:
		text = "the absence of (" + texts(c.Not, " or ") + ")"
	}
	if c.FailureMessage != "" {
		text += " (" + c.FailureMessage + ")"
	}
	return text
}

func texts(list []constraint.Constraint, word string) string {
	if len(list) == 0 {
		return "nothing"
	}
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = describe(c)
	}
	return strings.Join(out, word)
}
