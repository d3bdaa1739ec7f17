package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/catalogset"
	"fairlead.dev/fairlead/resolve"
)

// conflict tells why there is no answer. wanted, if any, is what was asked about; subscriptions are those that go without.
func (b *builder) conflict(core *resolve.Unsatisfiable, wanted resolve.Var, subscriptions []string) *Conflict {
	c := &Conflict{core: core, subscriptions: subscriptions}
	reasons := slices.DeleteFunc(core.Reasons(), func(r resolve.Reason) bool { return b.asksFor(r, wanted) })
	for _, r := range reasons {
		c.Chain = append(c.Chain, b.link(r, core.Core))
	}
	for i, r := range reasons {
		c.Chain[i].plain = b.saidElsewhere(r, reasons)
	}
	obstacle := c.Chain[len(c.Chain)-1].Text
	if wanted != 0 {
		c.wanted = b.node(wanted).name()
		for i, r := range reasons { // that there can be only one of a kind says less than who needs the other one
			if r.Kind != resolve.Limited && !c.Chain[i].plain {
				obstacle = c.Chain[i].Text
			}
		}
		c.Summary = fmt.Sprintf("%s cannot be had: %s", c.wanted, obstacle)
	} else {
		c.Summary = fmt.Sprintf("%s cannot be satisfied: %s", listSubscriptions(subscriptions), obstacle)
	}
	c.Advice = b.advice(core.Core, reasons, wanted)
	c.Unavailable = b.unavailable(core.Core)
	return c
}

// unavailable are the catalogs without content that those who need something would have had to ask.
func (b *builder) unavailable(core []resolve.Clause) []catalogset.Ref {
	var found []catalogset.Ref
	for _, c := range core {
		if c.Subject == "" {
			continue
		}
		if ref, blind := b.blind[need{b.problem.Var(c.Subject), c.Origin.Field}]; blind && !slices.Contains(found, ref) {
			found = append(found, ref)
		}
	}
	slices.SortFunc(found, catalogset.Ref.Compare)
	return found
}

// link tells one rule. Where the solver has names of its own, those of the catalog take their place.
func (b *builder) link(r resolve.Reason, core []resolve.Clause) Link {
	o := r.Origin
	l := Link{Text: o.Text, Object: o.Object, Field: o.Field, Catalog: o.Catalog, Digest: o.Digest, Alike: r.More}
	switch r.Kind {
	case resolve.Limited:
		l.Text += b.who(r.Clause, core)
	case resolve.Dependency:
		l.Text += b.more(r.Clause, core)
	case resolve.Assumed:
		if r.Subject != "" {
			l.Text = strings.Replace(o.Text, r.Subject, b.node(b.problem.Var(r.Subject)).name(), 1)
		}
	}
	return l
}

// more says of what a Subscription asks for that something of it is installed, and which channel it comes from when another Subscription of
// the core is about the same package.
func (b *builder) more(asks resolve.Clause, core []resolve.Clause) string {
	n := b.node(b.problem.Var(asks.Subject))
	if n.sub == nil {
		return ""
	}
	r := b.requestOf(b.problem.Var(asks.Subject))
	twice := slices.ContainsFunc(b.askers(core), func(name string) bool {
		return name != n.sub.Name && b.requestNamed(name).sub.Package == n.sub.Package
	})
	switch {
	case len(r.options) == 0:
		return ""
	case r.installed != nil:
		return " (" + r.installed.Name + " is installed)"
	case twice && len(r.channels) == 1:
		return " from channel " + r.channels[0].Name
	}
	return ""
}

// who names the members of an upper bound that the other rules speak of.
func (b *builder) who(bound resolve.Clause, core []resolve.Clause) string {
	var names, full []string
	for _, id := range bound.Others {
		spoken := slices.ContainsFunc(core, func(c resolve.Clause) bool {
			return c.Kind != resolve.Limited && (c.Subject == id || slices.Contains(c.Others, id))
		})
		if !spoken {
			continue
		}
		v := b.problem.Var(id)
		full = append(full, b.describe(v))
		if name := b.node(v).name(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	const shown = 4
	if len(names) == 1 { // it is not its name that tells them apart
		names = full
	}
	if len(names) < 2 {
		return ""
	}
	if len(names) > shown {
		names = append(names[:shown-1:shown-1], plural(len(names)-shown+1, "other"))
	}
	return ": " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// asksFor reports whether a reason only says that there is the question which it is part of an answer to. What was left out by an earlier
// choice is about the same bundle, but names the object that the choice was made for.
func (b *builder) asksFor(r resolve.Reason, wanted resolve.Var) bool {
	return wanted != 0 && r.Kind == resolve.Assumed && r.Origin.Object == "" && b.problem.Var(r.Subject) == wanted
}

// saidElsewhere tells whether a reason only says that something exists, of which another reason says more.
func (b *builder) saidElsewhere(r resolve.Reason, reasons []resolve.Reason) bool {
	if r.Kind != resolve.Mandatory || b.node(b.problem.Var(r.Subject)).operator != nil {
		return false
	}
	return slices.ContainsFunc(reasons, func(other resolve.Reason) bool { return other.Kind != resolve.Mandatory && other.Subject == r.Subject })
}

// asConflict makes an error of the solver one of this package.
func (b *builder) asConflict(err error, subscriptions []string) error {
	var core *resolve.Unsatisfiable
	if errors.As(err, &core) {
		return b.conflict(core, 0, subscriptions)
	}
	const most = 5
	named := strings.Join(subscriptions[:min(len(subscriptions), most)], ", ")
	if more := len(subscriptions) - most; more > 0 {
		named = fmt.Sprintf("%s and %d more", named, more)
	}
	return fmt.Errorf("decide on Subscription %s, together with all they can lead to: %w; narrow down what they may have "+
		"(spec.source, spec.channel, a version range), or have some of them in a namespace of their own", named, err)
}
