package graph

import (
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// Query asks for the way from one version of a package to another.
type Query struct {
	Package string
	// Channel is the one that is followed. Empty means all of the package: v0
	// then tries the default channel first.
	Channel string
	// From is a version, or the name of a bundle, that is installed. It need not
	// be in the catalog.
	From string
	// To is where to come to. Empty means as far as it goes: that should be the
	// head of the channel or, if all are followed, a head that is not older than
	// that of the default channel.
	To string
}

// Stop is a version on a way.
type Stop struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // empty when it is not known
}

// String names the stop, and its version where the name does not tell.
func (s Stop) String() string {
	if v, ok := versionInName(s.Name); s.Version == "" || s.Version == s.Name || ok && v.String() == s.Version {
		return s.Name
	}
	return s.Name + " (" + s.Version + ")"
}

// Hop is one upgrade, and the edges that allow it.
type Hop struct {
	From  Stop   `json:"from"`
	To    Stop   `json:"to"`
	Edges []Edge `json:"edges"`
}

// Route is the way that one of the APIs goes from version to version by itself.
type Route struct {
	Reached bool  `json:"reached"`
	Hops    []Hop `json:"hops"` // all of them, also when they lead elsewhere
	// Reason says why the route does not come to where it should, and Remedy
	// what would have to change.
	Reason string `json:"reason,omitempty"`
	Remedy string `json:"remedy,omitempty"`
	// Pinned is, under v1, a shortest way for those who set spec.version to each
	// of its stops in turn, if the route does not come there by itself.
	Pinned []Hop `json:"pinned,omitempty"`
}

// Journey is the answer to a Query.
type Journey struct {
	Package string `json:"package"`
	Channel string `json:"channel,omitempty"`
	From    Stop   `json:"from"`
	To      Stop   `json:"to"`
	V0      Route  `json:"v0"`
	V1      Route  `json:"v1"`
}

// Path follows a version to another one hop by hop. Under v0 each hop is the
// one that a Subscription makes: of all entries on the chains of the channels
// that upgrade from what is installed, the first, counted from the head, in the
// first channel that has one. Under v1 it is the one that a ClusterExtension
// without spec.version makes. That there is no way is no error.
func Path(c *catalog.Catalog, q Query) (Journey, error) {
	fail := func(err error) (Journey, error) {
		return Journey{}, fmt.Errorf("find the way from %s in package %s: %w", safetext.Quote(q.From), safetext.Quote(q.Package), err)
	}
	// Find a package that has a graph.
	n := find(c, q.Package)
	if n == nil {
		return fail(fmt.Errorf("the catalog has no package %s", safetext.Quote(q.Package)))
	}
	if len(n.channels) == 0 {
		return fail(fmt.Errorf("package %s has no channels, and so no upgrade graph", safetext.Quote(q.Package)))
	}
	s, err := n.scope(q.Channel)
	if err != nil {
		return fail(err)
	}
	from := n.locate(q.From)
	if from == nil {
		return fail(fmt.Errorf("there is no such bundle, and it is no version either; name one of %s", safetext.QuoteList(sorted(n.installable(s)))))
	}
	to, err := n.goal(s, q.To)
	if err != nil {
		return fail(err)
	}
	return newWalk(n, s).journey(q, from, to), nil
}

// installable are the versions that the channels offer.
func (n *network) installable(s scope) []*node {
	var found []*node
	for _, v := range n.order {
		if v.usable && s.first(v) != nil {
			found = append(found, v)
		}
	}
	return found
}

func (v *node) stop() Stop {
	s := Stop{Name: v.name}
	if v.known {
		s.Version = v.version.String()
	}
	return s
}
