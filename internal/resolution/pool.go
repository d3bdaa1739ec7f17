package resolution

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/resolve"
)

// pool is what can be chosen in a namespace: requests, installed operators, entries of the catalogs in view. The node of Var v is nodes[v-1].
type pool struct {
	*builder
	in        NamespaceRequest
	operators map[string]*Operator
	order     []*Operator
	nodes     []*node
	known     register
	pending   []resolve.Var // nodes whose dependencies are still to be looked up
}

func (b *pool) node(v resolve.Var) *node { return b.nodes[v-1] }

// add returns the Var of the node with this id, and whether it is new.
func (b *pool) add(n *node) (resolve.Var, bool) {
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

func (b *pool) operator(o *Operator) resolve.Var {
	n := &node{id: "@existing/" + b.in.Namespace + "//" + o.Name, operator: o}
	v, isNew := b.add(n)
	if isNew {
		n.bundle = o.bundle()
	}
	return v
}

func entryID(s *Source, c *catalog.ChannelInfo, name string) string {
	return s.Ref.Name + "/" + s.Ref.Namespace + "/" + c.Name + "/" + name
}

func (b *pool) entry(s *Source, c *catalog.ChannelInfo, place int) resolve.Var {
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

func bundlesOf(x *catalog.Index, pkg string) []*catalog.BundleInfo {
	p, ok := x.Package(pkg)
	if !ok {
		return nil
	}
	var found []*catalog.BundleInfo
	seen := map[*catalog.BundleInfo]bool{}
	for _, c := range p.Channels {
		for _, e := range c.Entries {
			if !seen[e.Bundle] {
				seen[e.Bundle] = true
				found = append(found, e.Bundle)
			}
		}
	}
	return found
}

// installedMeets tells whether an installed operator other than n meets a condition.
func (b *pool) installedMeets(n *node, c condition) bool {
	return slices.ContainsFunc(c.known(&b.known), func(v resolve.Var) bool {
		o := b.node(v)
		return o.operator != nil && o.bundle.Package != n.bundle.Package && c.meets(o)
	})
}

// describe names a candidate together with where it comes from.
func (b *pool) describe(v resolve.Var) string {
	n := b.node(v)
	if n.channel == nil {
		return "the installed " + n.bundle.Name
	}
	return n.bundle.Name + " from channel " + n.channel.Name + " of " + n.source.Ref.String()
}

// oneOf lists names for an explanation; long lists are cut.
func (b *pool) oneOf(nodes []resolve.Var) string {
	const shown = 3
	text := ""
	if len(nodes) > 1 {
		text = "at least one of "
	}
	for i, n := range nodes {
		switch {
		case i == shown && len(nodes) > shown+1:
			return fmt.Sprintf("%s or one of %s", text, safetext.Count(len(nodes)-shown, "other version"))
		case i > 0 && i == len(nodes)-1:
			text += " or "
		case i > 0:
			text += ", "
		}
		text += b.node(n).bundle.Name
	}
	return text
}

// register lists what a user has or asked for: what Subscriptions may become, also what is on no chain, and what is installed. Only the
// latter is preferred: what Subscriptions become is decided before anything is looked for in their place, so where one of them meets a
// need, it is there already, and where it does not, no need is a reason to have it at another version.
type register struct {
	all       []resolve.Var
	entered   map[resolve.Var]bool
	rank      map[resolve.Var]int // of what is installed, from 1
	providers map[catalog.GVK][]resolve.Var
	packages  map[string][]resolve.Var
}

// add enters v, once.
func (r *register) add(v resolve.Var, n *node) {
	if r.entered[v] {
		return
	}
	r.entered[v] = true
	r.all = append(r.all, v)
	if n.operator != nil {
		r.rank[v] = len(r.all)
	}
	for _, gvk := range n.bundle.Provides {
		r.providers[gvk] = append(r.providers[gvk], v)
	}
	r.packages[n.bundle.Package] = append(r.packages[n.bundle.Package], v)
}

// groups collects members under keys, in the order in which keys first came up.
type groups struct {
	order []*group
	byKey map[string]*group
}

type group struct {
	key     string
	members []resolve.Var
}

func (g *groups) add(key string, member resolve.Var) {
	if g.byKey == nil {
		g.byKey = map[string]*group{}
	}
	found, ok := g.byKey[key]
	if !ok {
		found = &group{key: key}
		g.byKey[key] = found
		g.order = append(g.order, found)
	}
	if n := len(found.members); n > 0 && found.members[n-1] == member {
		return // an API that is named twice
	}
	found.members = append(found.members, member)
}
