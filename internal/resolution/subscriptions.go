package resolution

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/resolve"
)

// namespaceFront is the front of the v0 API: the Subscriptions of a namespace and the operators in it.
type namespaceFront struct {
	*subscriptions
	whole int // Subscriptions that may yet be decided on to find advice
}

// newNamespace states everything there is to state about a namespace. Its only error is that of the context.
func newNamespace(ctx context.Context, in NamespaceRequest, trial bool) (*namespaceFront, error) {
	known := register{entered: map[resolve.Var]bool{}, rank: map[resolve.Var]int{}, providers: map[catalog.GVK][]resolve.Var{}, packages: map[string][]resolve.Var{}}
	g := &pool{builder: &builder{trial: trial}, in: in, operators: map[string]*Operator{}, known: known}
	for _, o := range in.current() {
		g.operators[o.Name] = &o
		g.order = append(g.order, &o)
	}
	needs := &dependencies{pool: g, offers: map[need]offer{}, lacking: map[need]bool{}, blind: map[need]catalog.Ref{}, withheld: map[string]withholding{}}
	b := &namespaceFront{&subscriptions{dependencies: needs}, maxWhole}
	b.front = b
	claimed := map[string]bool{}
	for i := range b.in.Subscriptions {
		r := b.request(&b.in.Subscriptions[i])
		b.requests = append(b.requests, r)
		b.problem.Order(r.self) // Subscriptions have their way before what is there anyway
		for _, v := range r.options {
			b.known.add(v, b.node(v))
		}
		if r.installed != nil {
			claimed[r.installed.Name] = true
		}
	}
	for _, o := range b.order {
		v := b.operator(o)
		b.known.add(v, b.node(v))
		if !claimed[o.Name] {
			b.orphan(v, o)
		}
	}
	if err := b.meet(ctx); err != nil {
		return nil, err
	}
	b.onlyOne()
	return b, nil
}

func (b *namespaceFront) requested(v resolve.Var) bool { return b.node(v).sub != nil }

// conclude gives the names of the catalog where the solver has names of its own, and names the obstacle: the last rule of the chain or, for something
// that was asked about, the last one that says who needs another.
func (b *namespaceFront) conclude(e *explanation, c *Conflict) {
	for i, r := range e.reasons {
		text := &c.Chain[i].Text
		switch {
		case r.Kind == resolve.Limited:
			*text += b.members(e, r.Clause)
		case r.Kind == resolve.Assumed && r.Subject != "":
			*text = strings.Replace(*text, r.Subject, b.node(b.problem.Var(r.Subject)).bundle.Name, 1)
		case r.Kind == resolve.Dependency:
			// What a Subscription asks for may be installed in part. It says which channel it comes from when another Subscription of the core is about
			// the same package.
			asks := b.requestOf(b.problem.Var(r.Subject))
			switch {
			case asks == nil || len(asks.options) == 0:
			case asks.installed != nil:
				*text += " (" + asks.installed.Name + " is installed)"
			case len(asks.channels) == 1 && slices.ContainsFunc(b.askers(e.core), func(name string) bool {
				return name != asks.sub.Name && b.requestNamed(name).sub.Package == asks.sub.Package
			}):
				*text += " from channel " + asks.channels[0].Name
			}
		}
	}
	obstacle := c.Chain[len(c.Chain)-1].Text
	if e.wanted != 0 {
		name := b.node(e.wanted).bundle.Name
		c.conclusion = oneLine(name) + " cannot be had"
		for i, r := range e.reasons { // that there can be only one of a kind says less than who needs the other one
			if r.Kind != resolve.Limited && !c.Chain[i].plain {
				obstacle = c.Chain[i].Text
			}
		}
		c.Summary = fmt.Sprintf("%s cannot be had: %s", name, obstacle)
	} else {
		names := list("subscription", e.requests)
		c.conclusion = "there is no solution for " + oneLine(names)
		c.Summary = fmt.Sprintf("%s cannot be satisfied: %s", names, obstacle)
		c.Headline = b.headline(e.requests, obstacle)
	}
	for _, clause := range e.core { // the catalogs without content that would have had to be asked
		if clause.Subject == "" {
			continue
		}
		if ref, blind := b.blind[need{b.problem.Var(clause.Subject), clause.Origin.Field}]; blind && !slices.Contains(c.Unavailable, ref) {
			c.Unavailable = append(c.Unavailable, ref)
		}
	}
	slices.SortFunc(c.Unavailable, catalog.Ref.Compare)
}

// members names the members of an upper bound that the other rules speak of.
func (b *namespaceFront) members(e *explanation, bound resolve.Clause) string {
	var names, full []string
	for _, id := range bound.Others {
		spoken := slices.ContainsFunc(e.core, func(c resolve.Clause) bool {
			return c.Kind != resolve.Limited && (c.Subject == id || slices.Contains(c.Others, id))
		})
		if !spoken {
			continue
		}
		v := b.problem.Var(id)
		full = append(full, b.describe(v))
		if name := b.node(v).bundle.Name; !slices.Contains(names, name) {
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
		names = append(names[:shown-1:shown-1], safetext.Count(len(names)-shown+1, "other"))
	}
	return ": " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
