package graph

import (
	"cmp"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// Semantics names one of the two ways to read an upgrade graph.
type Semantics string

const (
	// V0 is how Subscriptions are resolved.
	V0 Semantics = "v0"
	// V1 is how ClusterExtensions are resolved.
	V1 Semantics = "v1"
)

// network is the upgrade graph of a package.
type network struct {
	name        string
	source      *catalog.Package // nil when there is no olm.package
	nodes       map[string]*node
	order       []*node    // as they were met
	channels    []*channel // the default channel first, then by name
	named       map[string][]*channel
	deprecation string
}

// node is a version of the package: a bundle, or only a name that entries use.
type node struct {
	name        string
	bundle      *catalog.Bundle // nil when there is none
	version     version.VersionRelease
	known       bool     // the version is
	usable      bool     // can be installed
	forbidden   bool     // has the property olm.deprecated, which v0 never installs
	deprecation string   // the message about it
	entries     []*entry // in all channels
	order       int
}

// channel is an olm.channel.
type channel struct {
	name        string
	source      *catalog.Channel
	entries     []*entry
	standard    bool // the default channel
	nameless    bool // an entry has no name
	repeated    bool // there is another channel of the name
	deprecation string
	chain       chain
	refusal     string // why v0 leaves the channel out; empty when it does not
}

// entry is a version's place in a channel. Its edges lead from the versions
// that it names to it.
type entry struct {
	channel   *channel
	node      *node
	replaces  *node // nil when it replaces none
	skips     []*node
	skipRange skipRange
	badRange  error
	onLine    bool // of the chain of its channel
}

// Packages are the names of the packages that have channels, sorted.
func Packages(c *catalog.Catalog) []string {
	var names []string
	for i := range c.Channels {
		names = append(names, c.Channels[i].Package)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// compare orders versions, the unknown ones first, those that are equal by name.
func (v *node) compare(o *node) int {
	switch {
	case v.known != o.known && o.known:
		return -1
	case v.known != o.known:
		return 1
	}
	return cmp.Or(v.version.Compare(o.version), strings.Compare(v.name, o.name))
}

// scope is the channels that a user follows, in order.
type scope struct {
	list []*channel
	has  map[*channel]bool
}

func scopeOf(channels ...*channel) scope {
	s := scope{list: channels, has: make(map[*channel]bool, len(channels))}
	for _, c := range channels {
		s.has[c] = true
	}
	return s
}

// first is the first entry of a version in these channels, nil when there is none.
func (s scope) first(v *node) *entry {
	for _, e := range v.entries {
		if s.has[e.channel] {
			return e
		}
	}
	return nil
}
