package plan

import (
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/constraint"
	"fairlead.dev/fairlead/resolve"
)

// What the rules of constraints may cost in one decision, in the units of CEL; a million are about a fifth of a second. A rule that
// has cost too much is met by nobody from then on.
const (
	maxRuleCost     = 2_000_000
	maxAllRulesCost = 5_000_000
)

// ruleText begins the text of a condition that is a rule in CEL.
const ruleText = "with constraint: "

// rulebook reads constraints and asks their rules, each question once. Its zero value is empty.
type rulebook struct {
	constraints map[string]readConstraint
	rules       map[string]*askedRule
	bundles     map[*catalog.BundleInfo]constraint.Values
	cost        uint64
}

type readConstraint struct {
	*constraint.Constraint
	err error
}

// askedRule is a rule, what it answered about bundles and installed operators, and what that cost.
type askedRule struct {
	*constraint.Rule
	met  map[any]bool
	cost uint64
}

// read reads the value of an olm.constraint; versions of a package mostly repeat each other's.
func (k *rulebook) read(raw json.RawMessage) (*constraint.Constraint, error) {
	if len(raw) > maxConstraint {
		return nil, fmt.Errorf("olm.constraint value is greater than max constraint size %d bytes", maxConstraint)
	}
	if known, ok := k.constraints[string(raw)]; ok {
		return known.Constraint, known.err
	}
	if k.constraints == nil {
		k.constraints = map[string]readConstraint{}
	}
	c, err := constraint.Parse(raw)
	k.constraints[string(raw)] = readConstraint{c, err}
	return c, err
}

// condition is that of a rule.
func (k *rulebook) condition(r *constraint.Rule) condition {
	asked := k.rules[r.Text]
	if asked == nil {
		if k.rules == nil {
			k.rules, k.bundles = map[string]*askedRule{}, map[*catalog.BundleInfo]constraint.Values{}
		}
		asked = &askedRule{Rule: r, met: map[any]bool{}}
		k.rules[r.Text] = asked
	}
	return condition{
		meets: func(n *node) bool { return k.ask(asked, n) },
		known: func(r *register) []resolve.Var { return r.all },
		find:  everything,
		text:  fmt.Sprintf(ruleText+"%q", r.Text),
		spent: func() bool { return k.spent(asked) },
	}
}

func (k *rulebook) ask(r *askedRule, n *node) bool {
	var key any = n.bundle
	if n.bundle == nil {
		key = n.operator
	}
	if met, known := r.met[key]; known {
		return met
	}
	if k.spent(r) {
		return false
	}
	met, cost := r.Ask(k.valuesOf(n))
	r.cost += cost
	k.cost += cost
	r.met[key] = met
	return met
}

func (k *rulebook) spent(r *askedRule) bool { return r.cost > maxRuleCost || k.cost > maxAllRulesCost }

func (k *rulebook) valuesOf(n *node) constraint.Values {
	if n.bundle == nil {
		return constraint.ValuesOf(n.properties())
	}
	values, known := k.bundles[n.bundle]
	if !known {
		values = constraint.ValuesOf(n.bundle.Properties)
		k.bundles[n.bundle] = values
	}
	return values
}
