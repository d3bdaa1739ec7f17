package resolution

import (
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"

	"github.com/blang/semver/v4"
)

// node is something that can be chosen: a Subscription (always chosen), an installed operator, or an entry of a catalog's channel.
type node struct {
	id       string
	sub      *Subscription
	operator *Operator
	source   *Source // of a Subscription: the catalog that it names, if that is in view
	channel  *catalog.ChannelInfo
	bundle   *catalog.BundleInfo
	place    int // of the entry in its channel, from the head down
}

// packageName is the package that the node is a version of; at most one version of a package is in a namespace. An operator whose
// package is not known stands for itself.
func (n *node) packageName() string {
	switch {
	case n.bundle != nil:
		return n.bundle.Package
	case n.operator != nil && n.operator.Package != "":
		return n.operator.Package
	case n.operator != nil:
		return "clusterserviceversion " + n.operator.Name
	}
	return ""
}

// name is the name of the ClusterServiceVersion that choosing the node leads to.
func (n *node) name() string {
	if n.bundle != nil {
		return n.bundle.Name
	}
	if n.operator != nil {
		return n.operator.Name
	}
	return ""
}

func (n *node) version() semver.Version {
	switch {
	case n.bundle != nil:
		return n.bundle.Version.Version
	case n.operator != nil:
		return n.operator.Version
	}
	return semver.Version{}
}

func (n *node) provides() []catalog.GVK {
	switch {
	case n.bundle != nil:
		return n.bundle.Provides
	case n.operator != nil:
		return n.operator.Provides
	}
	return nil
}

// properties are those of the bundle or of what is installed.
func (n *node) properties() []catalog.Property {
	switch {
	case n.bundle != nil:
		return n.bundle.Properties
	case n.operator != nil:
		return n.operator.Properties
	}
	return nil
}

func (n *node) doesProvide(gvk catalog.GVK) bool {
	for _, g := range n.provides() {
		if g == gvk {
			return true
		}
	}
	return false
}

// label names the node in an explanation.
func (n *node) label() string {
	if n.operator != nil {
		return "clusterserviceversion " + n.operator.Name
	}
	return "bundle " + n.name()
}

// origin says, for an explanation, which object and which content a rule about the node comes from.
func (n *node) origin(field, format string, args ...any) resolve.Origin {
	o := resolve.Origin{Object: n.id, Field: field, Text: fmt.Sprintf(format, args...)}
	switch {
	case n.sub != nil:
		o.Object = "Subscription " + n.sub.Name
	case n.bundle != nil:
		o.Object = "bundle " + n.bundle.Name
	case n.operator != nil:
		o.Object = "ClusterServiceVersion " + n.operator.Name
	}
	if n.source != nil {
		o.Catalog = n.source.Ref.String()
		if n.source.Index != nil {
			o.Digest = n.source.Index.Digest()
		}
	}
	return o
}

// deprecations are what the catalog says of what is deprecated: the package, the channel, the bundle. Deprecated is not forbidden.
func (n *node) deprecations() []string {
	var told []string
	note := func(what, message string) {
		if message != "" {
			told = append(told, what+" is deprecated: "+message)
		}
	}
	if p, ok := n.source.Index.Package(n.bundle.Package); ok {
		note("package "+p.Name, p.Deprecation)
	}
	note("channel "+n.channel.Name, n.channel.Deprecation)
	note("bundle "+n.bundle.Name, n.bundle.Deprecation)
	return told
}

// register lists what somebody has or asked for: what Subscriptions may become, also what is on no chain, and what is installed. Only the
// latter is preferred: what Subscriptions become is decided before anything is looked for in their place, so where one of them meets a
// need, it is there already, and where it does not, no need is a reason to have it at another version.
type register struct {
	all       []resolve.Var
	entered   map[resolve.Var]bool
	rank      map[resolve.Var]int // of what is installed, from 1
	providers map[catalog.GVK][]resolve.Var
	packages  map[string][]resolve.Var
}

func newRegister() register {
	return register{entered: map[resolve.Var]bool{}, rank: map[resolve.Var]int{}, providers: map[catalog.GVK][]resolve.Var{}, packages: map[string][]resolve.Var{}}
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
	for _, gvk := range n.provides() {
		r.providers[gvk] = append(r.providers[gvk], v)
	}
	r.packages[n.packageName()] = append(r.packages[n.packageName()], v)
}

// groups collects members under keys and remembers the order in which keys first came up.
type groups struct {
	order []string
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
		g.order = append(g.order, key)
	}
	if n := len(found.members); n > 0 && found.members[n-1] == member {
		return // an API that is named twice
	}
	found.members = append(found.members, member)
}

// list returns the groups that have at least two members.
func (g *groups) list() []*group {
	var all []*group
	for _, key := range g.order {
		found := g.byKey[key]
		if len(found.members) > 1 {
			all = append(all, found)
		}
	}
	return all
}
