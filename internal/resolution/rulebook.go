package resolution

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/resolve"
)

// What the rules of constraints may cost in one decision, in the units of CEL; a million are about a fifth of a second. A rule that has
// cost too much is met by no one from then on, nor are the rules of a package that together have. So a package with rules that cost too
// much has no say about others, unless many of them are asked for at once.
const (
	maxRuleCost     = 2_000_000
	maxPackageCost  = 3_000_000
	maxAllRulesCost = 12_000_000
)

// ruleText begins the text of a condition that is a rule in CEL.
const ruleText = "with constraint: "

// rulebook reads constraints and asks their rules, each question once. Its zero value is empty.
type rulebook struct {
	constraints map[string]readConstraint
	rules       map[string]*askedRule
	bundles     map[*catalog.BundleInfo]constraint.Values
	costs       shares
}

type readConstraint struct {
	*constraint.Constraint
	err error
}

// askedRule is a rule, what it answered about bundles and installed operators, and what that cost.
type askedRule struct {
	*constraint.Rule
	met     map[*catalog.BundleInfo]bool
	cost    uint64
	stopped int // answers it did not come to, each by itself too dear
}

// read reads the value of an olm.constraint; versions of a package mostly repeat each other's.
func (k *rulebook) read(raw json.RawMessage) (*constraint.Constraint, error) {
	if len(raw) > constraint.MaxSize {
		return nil, fmt.Errorf("olm.constraint value is greater than max constraint size %d bytes", constraint.MaxSize)
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

// condition is that of a rule which a bundle of pkg has.
func (k *rulebook) condition(r *constraint.Rule, pkg string) condition {
	asked := k.rules[r.Text]
	if asked == nil {
		if k.rules == nil {
			k.rules, k.bundles = map[string]*askedRule{}, map[*catalog.BundleInfo]constraint.Values{}
		}
		asked = &askedRule{Rule: r, met: map[*catalog.BundleInfo]bool{}}
		k.rules[r.Text] = asked
	}
	return condition{
		meets: func(n *node) bool {
			if met, known := asked.met[n.bundle]; known {
				return met
			}
			if asked.cost > maxRuleCost || k.costs.packages[pkg] > maxPackageCost || k.costs.all > maxAllRulesCost {
				return false
			}
			values, ok := k.bundles[n.bundle]
			if !ok {
				values = constraint.ValuesOf(n.bundle.Properties)
				k.bundles[n.bundle] = values
			}
			met, cost := asked.Ask(values)
			if constraint.TooDear(cost) {
				asked.stopped++
			}
			asked.cost += cost
			k.costs.add(pkg, cost)
			asked.met[n.bundle] = met
			return met
		},
		known: func(r *register) []resolve.Var { return r.all },
		find:  everything,
		text:  fmt.Sprintf(ruleText+"%q", r.Text),
		dear: func() dear {
			switch {
			case asked.cost > maxRuleCost:
				return dear{"this rule has cost too much before all operators were compared", pkg}
			case k.costs.packages[pkg] > maxPackageCost:
				return dear{fmt.Sprintf("the rules of package %s have together cost too much before all operators were compared", pkg), pkg}
			case k.costs.all > maxAllRulesCost:
				dearest := k.costs.dearest()
				return dear{"the rules of all packages have together cost too much, most of all those of package " + dearest, dearest}
			case asked.stopped > 0:
				return dear{fmt.Sprintf("this rule costs too much to be asked about %d of the operators", asked.stopped), pkg}
			}
			return dear{}
		},
	}
}

// dear says that it is not known of everybody whether they meet a condition, because to ask costs too much; its zero value, that it is.
type dear struct{ why, pkg string }

// tell adds it to a rule of the problem.
func (d dear) tell(o *resolve.Origin) {
	o.Text += ", and " + d.why
	o.Hint = fmt.Sprintf("ask the authors of package %s for needs that cost less to look into", d.pkg)
}

// How many candidates the needs of one package's bundles may have together, and those of all packages. The one who needs more has no answer;
// that harms only who asks for it. So content that no one asked for, and that only might meet some need, keeps no one from deciding.
const (
	maxPackageOffers = 500_000
	maxOffers        = 5_000_000
	looksAnOffer     = 16 // bundles that do not fit count as well, by the work that they are
)

// crowd counts candidates. Its zero value has none.
type crowd struct{ shares }

func (c *crowd) count(n *node, looked, found int) {
	c.add(n.bundle.Package, uint64(found+looked/looksAnOffer))
}

// of tells whether the needs of a bundle or an installed operator are not looked into any more.
func (c *crowd) of(n *node) dear {
	pkg := n.bundle.Package
	switch {
	case c.packages[pkg] > maxPackageOffers:
		return dear{fmt.Sprintf("the needs of package %s together have more than %d candidates", pkg, maxPackageOffers), pkg}
	case c.all > maxOffers:
		dearest := c.dearest()
		return dear{fmt.Sprintf("the needs of all packages together have more than %d candidates, most of all those of package %s", maxOffers, dearest), dearest}
	}
	return dear{}
}

// shares counts work by the package that it is done for, so that one package's share can be bounded, and who has the largest can be named.
// Its zero value has none.
type shares struct {
	all      uint64
	packages map[string]uint64
}

func (s *shares) add(pkg string, work uint64) {
	if s.packages == nil {
		s.packages = map[string]uint64{}
	}
	s.all += work
	s.packages[pkg] += work
}

// dearest is the package with the largest share, the first by name of several.
func (s *shares) dearest() string {
	var found string
	for _, pkg := range slices.Sorted(maps.Keys(s.packages)) {
		if found == "" || s.packages[pkg] > s.packages[found] {
			found = pkg
		}
	}
	return found
}
