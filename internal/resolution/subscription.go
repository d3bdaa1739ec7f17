package resolution

import (
	"fmt"

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

func subscriptionID(name string) string { return "subscription:" + name }

// request states what a Subscription asks for.
func (b *namespaceBuilder) request(s *Subscription) *request {
	r := &request{sub: s, source: b.source(s), limit: limitOf(s)}
	r.self, _ = b.add(&node{id: subscriptionID(s.Name), sub: s, source: r.source})
	self := b.node(r.self)
	b.problem.Require(r.self, self.origin("", "subscription %s exists", s.Name))
	if r.installed = b.installed(s, r.source); r.installed != nil {
		r.own = b.operator(r.installed)
	}
	trouble := b.reach(r)
	if trouble == nil && r.installed == nil {
		r.options = b.installations(r)
		if trouble = nothingToInstall(r); trouble == nil {
			trouble = b.within(r)
		}
	}
	if trouble == nil && r.installed != nil {
		r.options = b.upgrades(r)
		b.within(r) // what is installed may stay in any case
		for _, c := range r.options {
			b.problem.Conflict(c, r.own, self.origin(fieldChannel, "%s would replace %s", b.node(c).name(), r.installed.Name))
		}
		switch stay := append(r.options[:len(r.options):len(r.options)], r.own); {
		case !r.installed.deprecated() || !r.installed.Settled || r.limit.binds() && len(r.options) == 0:
			r.options = stay
		case len(r.options) == 0:
			trouble = replaceDeprecated(r)
		default: // it says nothing new, but what is installed, which may yet have to stay, is decided on together with its upgrades
			b.problem.Depends(r.self, stay, self.origin(fieldInstalled, "subscription %s has %s or something newer", s.Name, r.installed.Name))
		}
	}
	if trouble != nil {
		b.problem.Depends(r.self, nil, trouble.origin(self))
		b.stays(&b.problem, r)
		return r
	}
	what := fmt.Sprintf("subscription %s requires %s%s", s.Name, b.oneOf(r.options), r.limited())
	b.offer(r.self, offer{r.options, what}, self.origin(fieldChannel, "%s", what))
	return r
}

// stays states in p that what a Subscription without answer has installed stays, and with it what that needs.
func (b *namespaceBuilder) stays(p *resolve.Problem, r *request) {
	if r.installed != nil {
		p.Require(r.own, b.node(r.own).origin("", "clusterserviceversion %s is installed, and there is no answer for its subscription %s", r.installed.Name, r.sub.Name))
	}
}

// reach finds the channels that a request follows, or says what is in the way. An operator that is installed stays as it is while its
// catalog is not there: that is told, but no reason to fail.
func (b *namespaceBuilder) reach(r *request) *trouble {
	if t := b.strict(); t != nil {
		return t
	}
	t := findChannels(r)
	if t != nil && t.passing && r.installed != nil {
		if loading := r.source != nil && r.source.Problem == ""; !loading {
			r.waits = t.text
		}
		return nil
	}
	return t
}

// installations returns the entries that may be installed first: the starting version, or any entry of the replaces chain.
func (b *namespaceBuilder) installations(r *request) []resolve.Var {
	var found []resolve.Var
	for _, c := range r.channels {
		for place, e := range c.Entries {
			if r.sub.StartingCSV == "" && e.InChain || r.sub.StartingCSV != "" && e.Name == r.sub.StartingCSV {
				found = append(found, b.entry(r.source, c, place))
			}
		}
	}
	return found
}

func (b *namespaceBuilder) source(s *Subscription) *Source {
	for i := range b.in.Sources {
		if b.in.Sources[i].Ref == s.Catalog {
			return &b.in.Sources[i]
		}
	}
	return nil
}

// oneOf lists names for an explanation; long lists are cut.
func (b *namespaceBuilder) oneOf(nodes []resolve.Var) string {
	const shown = 3
	text := ""
	if len(nodes) > 1 {
		text = "at least one of "
	}
	for i, n := range nodes {
		switch {
		case i == shown && len(nodes) > shown+1:
			return fmt.Sprintf("%s or one of %s", text, plural(len(nodes)-shown, "other version"))
		case i > 0 && i == len(nodes)-1:
			text += " or "
		case i > 0:
			text += ", "
		}
		text += b.node(n).name()
	}
	return text
}
