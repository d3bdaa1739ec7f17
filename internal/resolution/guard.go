package resolution

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/catalog/safetext"
)

// stake is a need of another extension that is met now, and that another version of the package could leave unmet.
type stake struct {
	of     *fact
	need   requirement
	others []*fact // who may meet it, without what this extension has
	text   string
}

// findStakes lists what other extensions need of this one. What is broken already keeps no one from anything.
func (b *requirements) findStakes() []stake {
	var found []stake
	for _, f := range b.world.facts {
		if f.pkg == b.in.Package {
			continue
		}
		needs := b.world.needsOf(f)
		if len(needs) == 0 {
			continue
		}
		others := b.world.besides(f.pkg)
		now := others
		if b.world.own != nil {
			now = append(slices.Clone(others), b.world.own)
		}
		for _, n := range needs {
			if n.err != nil || !b.world.holds(n.what, now) || b.world.holds(n.what, others) && !negates(n.what) {
				continue
			}
			f.used = true
			found = append(found, stake{of: f, need: n, others: others, text: describe(n.what)})
		}
	}
	return found
}

// negates tells whether something more can make the constraint fail.
func negates(c constraint.Constraint) bool {
	return c.Not != nil || slices.ContainsFunc(c.All, negates) || slices.ContainsFunc(c.Any, negates)
}

// guard refuses a candidate that would break what another extension has installed.
func (b *requirements) guard(c *candidate) {
	next := c.fact()
	for _, s := range b.stakes {
		if b.world.holds(s.need.what, append(slices.Clone(s.others), next)) {
			continue
		}
		f := s.of
		o := b.originOf(c, "status.install.bundle", "ClusterExtension %s has %s installed, which requires %s, and with %s that would not be met any more",
			f.extension, f.bundle, s.text, c.bundle.Name)
		o.Object = "ClusterExtension " + f.extension
		o.Alike = f.extension + " requires " + s.text
		o.Hint = fmt.Sprintf("upgrade or delete ClusterExtension %s first, or keep a version that it can be used with", f.extension)
		if len(c.refusals) == 0 {
			b.problem.Conflict(c.v, b.present(f), o)
		}
		c.refusals = append(c.refusals, refusal{rule: ruleGuard, origin: o, by: f.extension})
	}
}

// maxUnmet is how many needs are told of.
const maxUnmet = 10

// Unmet says what the installed bundle requires that no other extension has installed, as after one of them was removed. It decides nothing:
// what is installed stays. Needs that cannot be read, or are too dear to look into, are left out.
func Unmet(in ExtensionRequest) []string {
	if in.Installed == nil || !slices.ContainsFunc(in.Installed.Properties, IsNeed) {
		return nil
	}
	b := newExtension(in, world{rules: map[string]readConstraint{}}, true)
	b.facts()
	var all []string
	for _, n := range b.world.needsOf(b.world.own) {
		if n.err != nil || b.world.holds(n.what, b.world.besides(in.Package)) || b.world.unknown(n.what) || b.world.spent() {
			continue
		}
		all = append(all, fmt.Sprintf("%s, which is installed, requires %s, and what other ClusterExtensions have installed does not meet that", in.Installed.Name, describe(n.what)))
	}
	return safetext.First(all, maxUnmet, "and %d more of its needs are not met")
}
