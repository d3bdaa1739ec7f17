package resolution

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// namespaceBuilder turns an Input into a resolve.Problem. The node of Var v is nodes[v-1].
type namespaceBuilder struct {
	in        NamespaceRequest
	problem   resolve.Problem
	operators map[string]*Operator
	order     []*Operator
	nodes     []*node
	requests  []*request
	known     register
	pending   []resolve.Var // nodes whose dependencies are still to be looked up
	offers    map[need]offer
	crowd     crowd
	lacking   map[need]bool        // needs of installed operators that no installed operator meets
	blind     map[need]catalog.Ref // needs for which a catalog without content would have to be asked
	compounds []compound           // constraints that are stated once all nodes are known
	rules     rulebook
	withheld  map[string]withholding // by package, of which nobody offers what is needed
	trials    int                    // that are left to find advice for the part at hand
	whole     int                    // Subscriptions that may yet be decided on for that
}

// need names one need of a node.
type need struct {
	of    resolve.Var
	field string
}

// offer is who may meet a need, the preferred first, and how the need reads. It is kept to tell afterwards which rule decided.
type offer struct {
	candidates []resolve.Var
	text       string
}

func newNamespaceBuilder(in NamespaceRequest) *namespaceBuilder {
	b := &namespaceBuilder{in: in, whole: maxWhole, operators: map[string]*Operator{}, known: newRegister(), offers: map[need]offer{}, lacking: map[need]bool{}, blind: map[need]catalog.Ref{}, withheld: map[string]withholding{}}
	for _, o := range in.current() {
		b.operators[o.Name] = &o
		b.order = append(b.order, &o)
	}
	return b
}

// maxNeeds bounds what one bundle may need: catalogs are content from outside.
const maxNeeds = 1000

// build states everything there is to state about the namespace. Its only error is that of the context.
func (b *namespaceBuilder) build(ctx context.Context) error {
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
	for len(b.pending) > 0 {
		next := b.pending[0]
		b.pending = b.pending[1:]
		if !b.asksTooMuch(next) {
			b.dependencies(next)
			b.constrain(next)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, c := range b.compounds {
		b.state(c)
	}
	b.onlyOne()
	return nil
}

func (b *namespaceBuilder) node(v resolve.Var) *node { return b.nodes[v-1] }

// add returns the Var of the node with this id, and whether it is new.
func (b *namespaceBuilder) add(n *node) (resolve.Var, bool) {
	v := b.problem.Var(n.id)
	if int(v) <= len(b.nodes) {
		return v, false
	}
	b.nodes = append(b.nodes, n)
	if n.sub == nil {
		b.pending = append(b.pending, v)
	}
	return v, true
}

func (b *namespaceBuilder) operator(o *Operator) resolve.Var {
	v, _ := b.add(&node{id: "@existing/" + b.in.Namespace + "//" + o.Name, operator: o})
	return v
}

func entryID(s *Source, c *catalog.ChannelInfo, name string) string {
	return s.Ref.Name + "/" + s.Ref.Namespace + "/" + c.Name + "/" + name
}

func (b *namespaceBuilder) entry(s *Source, c *catalog.ChannelInfo, place int) resolve.Var {
	bundle := c.Entries[place].Bundle
	n := &node{id: entryID(s, c, bundle.Name), source: s, channel: c, bundle: bundle, place: place}
	v, isNew := b.add(n)
	if o := b.operators[bundle.Name]; isNew && o != nil && o.Package != bundle.Package {
		b.problem.Conflict(v, b.operator(o), n.origin("", "clusterserviceversion %s is installed already", o.Name))
	}
	if isNew && bundle.Deprecated {
		origin := n.origin("properties, "+catalog.PropertyDeprecated, "bundle %s is deprecated", bundle.Name)
		origin.Alike = "bundle of " + bundle.Package + " is deprecated"
		origin.Hint = fmt.Sprintf("ask the authors of catalog %s for a version of package %s that is not deprecated", s.Ref, bundle.Package)
		b.problem.Forbid(v, origin)
	}
	return v
}

// offer states that v needs one of the candidates.
func (b *namespaceBuilder) offer(v resolve.Var, f offer, o resolve.Origin) {
	b.offers[need{v, o.Field}] = f
	b.problem.Depends(v, f.candidates, o)
}

// onlyOne states that a namespace has at most one version of a package and one provider of an API. Where more are installed already,
// they stay, and nothing is added to them. What would replace an operator of another package is in its place there.
func (b *namespaceBuilder) onlyOne() {
	var packages, apis groups
	for i, n := range b.nodes {
		if n.sub != nil {
			continue
		}
		v := resolve.Var(i + 1)
		packages.add(n.packageName(), v)
		for _, gvk := range n.provides() {
			apis.add(gvk.String(), v)
		}
	}
	for _, r := range b.requests {
		if r.installed == nil || r.installed.isOf(r.sub.Package) {
			continue
		}
		for _, v := range r.options {
			if v != r.own {
				packages.add(r.installed.Package, v)
			}
		}
	}
	for _, g := range packages.list() {
		b.problem.AtMost(b.allowed(g), g.members, resolve.Origin{Object: "package " + g.key, Text: "there can be only one operator from package " + g.key})
	}
	for _, g := range apis.list() {
		b.problem.AtMost(b.allowed(g), g.members, resolve.Origin{Object: "provider of " + g.key, Text: "there can be only one provider of " + g.key})
	}
}

func (b *namespaceBuilder) allowed(g *group) int {
	installed := 0
	for _, v := range g.members {
		if b.node(v).operator != nil {
			installed++
		}
	}
	return max(installed, 1)
}
