package graph

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// channels reports what is odd between the channels of the package.
func (k *checker) channels() {
	k.abandoned()
	n := k.network
	if len(n.channels) == 0 || !n.channels[0].standard {
		return // validation reports it
	}
	standard := n.channels[0]
	var sound []string
	for _, c := range n.channels[1:] {
		if c.deprecation == "" {
			sound = append(sound, c.name)
		}
	}
	if standard.deprecation != "" && n.deprecation == "" && len(sound) > 0 {
		k.report(catalog.Warning, RuleDefaultDeprecated, both, nil, fmt.Sprintf("the default channel %s is deprecated", safetext.Quote(standard.name)),
			"choose another one, such as "+safetext.Quote(slices.MaxFunc(sound, strings.Compare)))
	}
	head := standard.top()
	if head == nil {
		return
	}
	var newer []string
	for _, c := range n.channels[1:] {
		if top := c.top(); top != nil && top.version.Compare(head.version) > 0 && len(top.version.Version.Pre) == 0 {
			newer = append(newer, fmt.Sprintf("%s (%s)", safetext.Quote(c.name), top.version))
		}
	}
	if len(newer) > 0 {
		k.report(Info, RuleDefaultOlder, both, nil,
			fmt.Sprintf("the head %s of the default channel %s is older than those of %s", safetext.Quote(head.name), safetext.Quote(standard.name), safetext.List(newer, mostReasons, ", ")),
			"none is needed if these channels are for those who ask for them")
	}
}

// abandoned reports heads of channels from which no other channel leads on,
// although the package has newer versions. It is a warning where another
// channel does go on from older versions of the channel: then the newer one was
// forgotten there.
func (k *checker) abandoned() {
	var heads []*node
	for _, c := range k.network.channels {
		if top := c.top(); top != nil {
			heads = append(heads, top)
		}
	}
	if len(heads) < 2 {
		return
	}
	newest := slices.MaxFunc(heads, (*node).compare)
	all := scopeOf(k.network.channels...)
	v0, v1 := all.hopsV0(heads), all.hopsV1(heads, byVersion)
	// The versions that replace or skip each one, in any channel.
	by := map[*node][]*node{}
	for _, w := range k.network.order {
		seen := map[*node]bool{}
		for _, e := range w.entries {
			for _, v := range e.named() {
				if !seen[v] {
					seen[v] = true
					by[v] = append(by[v], w)
				}
			}
		}
	}
	type kind struct {
		severity catalog.Severity
		holds    string
	}
	found := map[kind][]string{}
	for _, c := range k.network.channels {
		head := c.top()
		if head == nil || head.version.Compare(newest.version) >= 0 {
			continue
		}
		is := kind{Info, ""}
		if c.isLeft(head, by) {
			is.severity = catalog.Warning
		}
		if v0.from(head) == nil {
			is.holds += string(V0)
		}
		if v1.from(head) == nil {
			is.holds += string(V1)
		}
		found[is] = append(found[is], fmt.Sprintf("%s of channel %s", safetext.Quote(head.name), safetext.Quote(c.name)))
	}
	for _, severity := range []catalog.Severity{catalog.Warning, Info} {
		for _, holds := range [][]Semantics{both, onlyV0, onlyV1} {
			is := kind{severity, ""}
			for _, s := range holds {
				is.holds += string(s)
			}
			if len(found[is]) == 0 {
				continue
			}
			message, fix := "no other channel leads on from these heads, although there are newer versions: ", "let entries of newer channels replace or skip them, or have them in their skipRange, if users are to change channels"
			if severity == catalog.Warning {
				message, fix = "other channels lead on from these channels, but not from their heads: ", "let the entries that replace or skip older versions skip these heads, too, or have them in their skipRange"
			}
			k.report(severity, RuleHeadAbandoned, holds, nil, message+safetext.List(found[is], mostReasons, ", "), fix)
		}
	}
}

// isLeft tells whether a version outside of the channel replaces or skips one
// of it that is older than the head.
func (c *channel) isLeft(head *node, by map[*node][]*node) bool {
	here := make(map[*node]bool, len(c.entries))
	for _, e := range c.entries {
		here[e.node] = true
	}
	for _, e := range c.entries {
		if e.node != head && slices.ContainsFunc(by[e.node], func(v *node) bool { return !here[v] && v.version.Compare(head.version) > 0 }) {
			return true
		}
	}
	return false
}
