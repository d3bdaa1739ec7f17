package resolution

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/resolve"
)

// constrain states what the constraints of a node ask for. A bundle with a constraint that cannot be read is not chosen; that stops
// nothing else. What is installed with one stays.
func (b *dependencies) constrain(v resolve.Var) {
	n := b.node(v)
	for i, raw := range n.bundle.Constraints {
		field := property(catalog.PropertyConstraint, i)
		c, err := b.rules.read(raw)
		switch {
		case err == nil:
			b.require(v, field, *c, c.FailureMessage)
		case n.channel != nil:
			origin := n.origin(field, "%s has an olm.constraint that cannot be read: %v", n.label(), err)
			origin.Alike = "olm.constraint of " + n.bundle.Package + " cannot be read"
			origin.Hint = fmt.Sprintf("ask the authors of package %s to correct %s of %s", n.bundle.Package, strings.TrimPrefix(field, "properties, "), n.bundle.Name)
			b.problem.Depends(v, nil, origin)
		}
	}
}

// require states that v needs a constraint to hold. The parts of an all are needs of their own, each of which any operator may meet, v
// itself included; a not keeps other operators out of the answer. message is what the author says about the constraint, or about the one around it.
func (b *dependencies) require(v resolve.Var, field string, c constraint.Constraint, message string) {
	if c.FailureMessage != "" {
		message = c.FailureMessage
	}
	switch cond, simple := b.conditionOf(c, b.node(v).bundle.Package); {
	case simple:
		b.depend(v, field, cond, message)
	case c.All != nil:
		for i, part := range c.All {
			b.require(v, fmt.Sprintf("%s, all #%d", field, i+1), part, message)
		}
	default:
		b.compound(v, field, b.formulaOf(v, c, false), message)
	}
}

// conditionOf returns the condition of a constraint that is about one operator: a leaf, or an any of such. An any is then one list of
// candidates in the usual order of preference. pkg is the package of the bundle that has the constraint.
func (b *dependencies) conditionOf(c constraint.Constraint, pkg string) (condition, bool) {
	switch {
	case c.CEL != nil:
		return b.rules.condition(c.CEL, pkg), true
	case c.Package != nil:
		wanted := versionOf(c.Package.Name, c.Package.Range)
		wanted.text = fmt.Sprintf("with package: %s and with version in range: %s", c.Package.Name, c.Package.Range)
		return wanted, true
	case c.GVK != nil:
		wanted := provides(*c.GVK)
		wanted.text = fmt.Sprintf("providing an API with group: %s, version: %s, kind: %s", c.GVK.Group, c.GVK.Version, c.GVK.Kind)
		return wanted, true
	case c.Any == nil:
		return condition{}, false
	}
	parts := make([]condition, len(c.Any))
	for i, part := range c.Any {
		cond, simple := b.conditionOf(part, pkg)
		if !simple {
			return condition{}, false
		}
		cond.text += said(part.FailureMessage)
		parts[i] = cond
	}
	joined := either(parts)
	joined.text = texts(parts, " or ", func(c condition) string { return c.text })
	if len(parts) == 0 {
		joined.text, joined.never = "that meets one of no constraints", true
	}
	return joined, true
}
