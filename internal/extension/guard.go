package extension

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/internal/constraint"
)

// stake is a need of another extension that is met now, and that another version of the package could leave unmet.
type stake struct {
	of     *fact
	need   need
	others []*fact // who may meet it, without what this extension has
	text   string
}

// findStakes lists what other extensions need of this one. What is broken already keeps nobody from anything.
func (b *builder) findStakes() []stake {
	var found []stake
	for _, f := range b.world {
		if f.pkg == b.in.Package {
			continue
		}
		needs := b.needsOf(f)
		if len(needs) == 0 {
			continue
		}
		others := b.besides(f.pkg)
		now := others
		if b.own != nil {
			now = append(slices.Clone(others), b.own)
		}
		for _, n := range needs {
			if n.err != nil || !b.holds(n.what, now) || b.holds(n.what, others) && !negates(n.what) {
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
func (b *builder) guard(c *candidate) {
	next := c.fact()
	for _, s := range b.stakes {
		if b.holds(s.need.what, append(slices.Clone(s.others), next)) {
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
