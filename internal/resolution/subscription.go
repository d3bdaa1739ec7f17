package resolution

import (
	"cmp"
	"fairlead.dev/fairlead/version"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// request is a Subscription and what it comes down to.
type request struct {
	sub       *Subscription
	self      resolve.Var
	source    *Source                // the catalog that it names; nil when that is not in view
	channels  []*catalog.ChannelInfo // those that it follows, the preferred first
	installed *Operator              // the operator that it stands for; nil before the first installation
	own       resolve.Var            // of installed
	// options is what it may become, the preferred first; what is installed is the last of them.
	options []resolve.Var
	// waits says why there is nothing newer for what is installed although there might be; empty when all is as it should be.
	waits string
	// awaiting is the upgrade that may not begin because what is installed does not run; zero when there is none.
	awaiting resolve.Var
	limit    *limit // nil when there is none
}

// The fields of a Subscription that explanations name.
const (
	fieldSource      = "spec.source"
	fieldName        = "spec.name"
	fieldChannel     = "spec.channel"
	fieldStartingCSV = "spec.startingCSV"
	fieldInstalled   = "status.installedCSV"
)

// subscriptions states what Subscriptions ask for, and what is installed.
type subscriptions struct {
	*dependencies
	requests []*request
}

// request states what a Subscription asks for.
func (b *subscriptions) request(s *Subscription) *request {
	r := &request{sub: s}
	if i := slices.IndexFunc(b.in.Sources, func(source Source) bool { return source.Ref == s.Catalog }); i >= 0 {
		r.source = &b.in.Sources[i]
	}
	if s.VersionRange != "" {
		r.limit = &limit{}
		r.limit.allowed, r.limit.err = version.ParseRange(s.VersionRange)
	}
	r.self, _ = b.add(&node{id: "subscription:" + s.Name, sub: s, source: r.source, bundle: &catalog.BundleInfo{}})
	self := b.node(r.self)
	b.problem.Require(r.self, self.origin("", "subscription %s exists", s.Name))
	if r.installed = b.installed(s, r.source); r.installed != nil {
		r.own = b.operator(r.installed)
	}
	// An operator that is installed stays as it is while its catalog is not there: that is told, but no reason to fail.
	why := b.strict()
	if why == nil {
		if why = findChannels(r); why != nil && why.passing && r.installed != nil {
			if loading := r.source != nil && r.source.Problem == ""; !loading {
				r.waits = why.text
			}
			why = nil
		}
	}
	if why == nil && r.installed == nil {
		// Return the entries that may be installed first: the starting version, or any entry of the replaces chain.
		var found []resolve.Var
		for _, c := range r.channels {
			for place, e := range c.Entries {
				if r.sub.StartingCSV == "" && e.InChain || r.sub.StartingCSV != "" && e.Name == r.sub.StartingCSV {
					found = append(found, b.entry(r.source, c, place))
				}
			}
		}
		r.options = found
		if why = nothingToInstall(r); why == nil {
			why = b.within(r)
		}
	}
	if why == nil && r.installed != nil {
		r.options = b.upgrades(r)
		b.within(r) // what is installed may stay in any case
		for _, c := range r.options {
			b.problem.Conflict(c, r.own, self.origin(fieldChannel, "%s would replace %s", b.node(c).bundle.Name, r.installed.Name))
		}
		switch stay := append(r.options[:len(r.options):len(r.options)], r.own); {
		case !r.installed.deprecated() || !r.installed.Settled || r.limit.binds() && len(r.options) == 0:
			r.options = stay
		case len(r.options) == 0:
			text := fmt.Sprintf("the installed %s is deprecated and nothing upgrades from it", r.installed.Name)
			if r.waits != "" {
				text += ": " + r.waits
			}
			why = &trouble{fieldChannel, text, fmt.Sprintf("ask the authors of catalog %s for an upgrade", r.sub.Catalog), false, nil}
		default: // it says nothing new, but what is installed, which may yet have to stay, is decided on together with its upgrades
			b.problem.Depends(r.self, stay, self.origin(fieldInstalled, "subscription %s has %s or something newer", s.Name, r.installed.Name))
		}
	}
	if why != nil {
		o := self.origin(why.field, "%s", why.text)
		o.Hint = why.advice
		if why.catalog != nil {
			o.Object, o.Field, o.Catalog, o.Digest = "CatalogSource "+why.catalog.Ref.String(), "", why.catalog.Ref.String(), ""
		}
		b.problem.Depends(r.self, nil, o)
		b.stays(&b.problem, r)
		return r
	}
	what := fmt.Sprintf("subscription %s requires %s", s.Name, b.oneOf(r.options))
	if r.limit != nil && r.limit.left > 0 { // the range had its say
		what += fmt.Sprintf(" (annotation %s allows only %s)", VersionRangeAnnotation, oneLine(s.VersionRange))
	}
	b.offers[need{r.self, fieldChannel}] = offer{r.options, what}
	b.problem.Depends(r.self, r.options, self.origin(fieldChannel, "%s", what))
	return r
}

// stays states in p that what a Subscription without answer has installed stays, and with it what that needs.
func (b *subscriptions) stays(p *resolve.Problem, r *request) {
	if r.installed != nil {
		p.Require(r.own, b.node(r.own).origin("", "clusterserviceversion %s is installed, and there is no answer for its subscription %s", r.installed.Name, r.sub.Name))
	}
}

// requestOf returns the request that is the node v, or nil.
func (b *subscriptions) requestOf(v resolve.Var) *request {
	if b.node(v).sub == nil {
		return nil
	}
	i := slices.IndexFunc(b.requests, func(r *request) bool { return r.self == v })
	return b.requests[i]
}

func (b *subscriptions) requestNamed(subscription string) *request {
	for _, r := range b.requests {
		if r.sub.Name == subscription {
			return r
		}
	}
	return nil
}

func (b *subscriptions) hasInstalled(subscription string) bool {
	r := b.requestNamed(subscription)
	return r != nil && r.installed != nil
}

func (b *subscriptions) subscriptionsOf(p *resolve.Problem) []string {
	var names []string
	for _, v := range p.Requests() {
		if s := b.node(v).sub; s != nil {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// askers are the Subscriptions that a core speaks of.
func (b *subscriptions) askers(core []resolve.Clause) []string {
	var names []string
	for _, c := range core {
		if c.Kind == resolve.Mandatory {
			if s := b.node(b.problem.Var(c.Subject)).sub; s != nil {
				names = append(names, s.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// without returns the problem without some Subscriptions. What they have installed is a fact.
func (b *subscriptions) without(p *resolve.Problem, subscriptions []string) *resolve.Problem {
	var selves []resolve.Var
	for _, r := range b.requests {
		if slices.Contains(subscriptions, r.sub.Name) {
			selves = append(selves, r.self)
		}
	}
	rest := p.Without(selves...)
	for _, r := range b.requests {
		if slices.Contains(subscriptions, r.sub.Name) {
			b.stays(rest, r)
		}
	}
	return rest
}

// strict is the trouble of every Subscription when they are decided on together and a catalog in view has no content: what it would
// have offered cannot be known.
func (b *subscriptions) strict() *trouble {
	if !b.in.Together {
		return nil
	}
	var dead []string
	remedy := ""
	for i := range b.in.Sources {
		if s := &b.in.Sources[i]; s.Index == nil {
			dead = append(dead, s.Ref.String())
			remedy = cmp.Or(remedy, s.Remedy)
		}
	}
	for i := range b.in.Sources {
		if s := &b.in.Sources[i]; s.Index == nil {
			return &trouble{fieldSource, fmt.Sprintf("catalog %s is in view of the namespace, its content is not available (%s), and the namespace is decided on as a whole", s.Ref, s.problem()),
				cmp.Or(remedy, fmt.Sprintf("repair or delete CatalogSource %s, or take annotation %s from the OperatorGroup", strings.Join(dead, " and "), "operators.fairlead.dev/resolve-together")), true, s}
		}
	}
	return nil
}

// onlyOne states that a namespace has at most one version of a package and one provider of an API. Where more are installed already,
// they stay, and nothing is added to them. What would replace an operator of another package is in its place there.
func (b *subscriptions) onlyOne() {
	var packages, apis groups
	for i, n := range b.nodes {
		if n.sub != nil {
			continue
		}
		v := resolve.Var(i + 1)
		packages.add(n.bundle.Package, v)
		for _, gvk := range n.bundle.Provides {
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
	for _, all := range []struct {
		groups       []*group
		object, text string
	}{{packages.order, "package ", "there can be only one operator from package "}, {apis.order, "provider of ", "there can be only one provider of "}} {
		for _, g := range all.groups {
			if len(g.members) < 2 {
				continue
			}
			installed := 0
			for _, v := range g.members {
				if b.node(v).operator != nil {
					installed++
				}
			}
			b.problem.AtMost(max(installed, 1), g.members, resolve.Origin{Object: all.object + g.key, Text: all.text + g.key})
		}
	}
}
