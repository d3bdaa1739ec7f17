package graph

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog/safetext"
)

// goal is where a way is to lead.
type goal struct {
	main *node
	// any are the versions that are as good, when no certain one was asked for;
	// the way then continues as far as it can.
	any map[*node]bool
}

// goal is the version that a user names, or the head when it is none.
func (n *network) goal(s scope, text string) (goal, error) {
	if text == "" {
		return s.heads()
	}
	to := n.locate(text)
	switch {
	case to == nil || to.bundle == nil:
		return goal{}, fmt.Errorf("the catalog does not hold %s; name one of %s", safetext.Quote(text), safetext.QuoteList(sorted(n.installable(s))))
	case s.first(to) == nil && len(to.entries) == 0:
		return goal{}, fmt.Errorf("%s is in no channel of the package", safetext.Quote(to.name))
	case s.first(to) == nil:
		var channels []string
		for _, e := range to.entries {
			channels = append(channels, e.channel.name)
		}
		return goal{}, fmt.Errorf("%s is not in channel %s; it is in %s", safetext.Quote(to.name), safetext.Quote(s.list[0].name), safetext.QuoteList(channels))
	}
	return goal{main: to}, nil
}

// heads are what there is to come to in these channels: the head of the first,
// which is the default channel when all are followed, and heads that are newer.
func (s scope) heads() (goal, error) {
	main := s.list[0].top()
	if main == nil {
		return goal{}, fmt.Errorf("channel %s has no entry that can be installed, and so no head; name the version to come to", safetext.Quote(s.list[0].name))
	}
	any := map[*node]bool{}
	for _, c := range s.list {
		for _, v := range []*node{c.head(), c.newest()} {
			if v != nil && v.version.Compare(main.version) >= 0 {
				any[v] = true
			}
		}
	}
	return goal{main: main, any: any}, nil
}

// top is the head of a channel or, if v0 leaves the channel out, its newest
// version.
func (c *channel) top() *node {
	if head := c.head(); head != nil {
		return head
	}
	return c.newest()
}

// preference orders versions, the better first.
type preference func(a, b *node) int

// byDeprecation is the preference of v1: what is not deprecated first, then the
// highest version.
func byDeprecation(a, b *node) int {
	if a.deprecation != "" != (b.deprecation != "") {
		if a.deprecation != "" {
			return 1
		}
		return -1
	}
	return byVersion(a, b)
}

// byVersion is the preference of v1 if nothing were deprecated.
func byVersion(a, b *node) int { return b.version.Compare(a.version) }

// settle weighs the chosen entry against what needs no edge: to stay, if the
// installed version is offered, or the same version under another name.
func (prefer preference) settle(v *node, chosen *entry, candidates []*entry, offered bool) *entry {
	if offered {
		if chosen != nil && prefer(chosen.node, v) < 0 {
			return chosen
		}
		return nil
	}
	if !v.known {
		return chosen
	}
	for _, deprecation := range []string{"", "deprecated"} { // in order of preference
		like := &node{version: v.version, deprecation: deprecation}
		if i, ok := slices.BinarySearchFunc(candidates, like, func(e *entry, l *node) int { return prefer(e.node, l) }); ok {
			if same := candidates[i]; chosen == nil || prefer(same.node, chosen.node) < 0 {
				return same
			}
			return chosen
		}
	}
	return chosen
}
