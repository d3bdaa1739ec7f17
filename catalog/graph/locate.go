package graph

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/version"
)

// locate finds what a user calls by the name of a bundle or by a version. What
// the catalog does not hold is made: an installed version may be older than all
// that a catalog still has. It is nil if the text is neither in the catalog nor
// tells a version.
func (n *network) locate(text string) *node {
	if v := n.nodes[text]; v != nil {
		v.guess()
		return v
	}
	var read version.VersionRelease
	parsed, err := version.ParseTolerant(text) // as people write them
	if err == nil {
		read = version.FromBuild(parsed)
		if v := n.ofVersion(text, read); v != nil {
			return v
		}
	}
	v := &node{name: text, version: read, known: err == nil, order: len(n.order)}
	v.guess()
	if !v.known {
		return nil
	}
	n.nodes[text] = v
	n.order = append(n.order, v)
	return v
}

// ofVersion finds the bundle of a version, or a name that entries use for one
// that is not in the catalog any more.
func (n *network) ofVersion(text string, wanted version.VersionRelease) *node {
	var named *node
	for _, v := range n.order {
		switch {
		case v.known && (v.version.String() == text || v.version.Compare(wanted) == 0):
			return v
		case v.known || named != nil:
		default:
			if guessed, ok := versionInName(v.name); ok && guessed.Compare(wanted) == 0 {
				named = v
			}
		}
	}
	if named != nil {
		named.guess()
	}
	return named
}

// guess reads the version of something that is not in the catalog from its name.
func (v *node) guess() {
	if !v.known && v.bundle == nil {
		v.version, v.known = versionInName(v.name)
	}
}

// splitName takes apart a name such as "operator.v1.2.3". The first part is
// empty when the name is nothing but a version.
func splitName(name string) (stem string, v version.VersionRelease, ok bool) {
	const longest = 300 // of names that mean something
	if len(name) > longest {
		return "", version.VersionRelease{}, false
	}
	for i := -1; i < len(name); i++ {
		if i >= 0 && name[i] != '.' && name[i] != '-' {
			continue
		}
		rest := strings.TrimPrefix(name[i+1:], "v")
		if rest == "" || rest[0] < '0' || rest[0] > '9' {
			continue
		}
		if v, err := version.Parse(rest); err == nil {
			return name[:max(i, 0)], version.FromBuild(v), true
		}
	}
	return "", version.VersionRelease{}, false
}

func versionInName(name string) (version.VersionRelease, bool) {
	_, v, ok := splitName(name)
	return v, ok
}

// scope is the channel of that name, or all of them when there is none.
func (n *network) scope(channel string) (scope, error) {
	if channel == "" {
		return scopeOf(n.channels...), nil
	}
	if found := n.named[channel]; len(found) > 0 {
		return scopeOf(found...), nil
	}
	var has []string
	for _, c := range n.channels {
		has = append(has, c.name)
	}
	return scope{}, fmt.Errorf("package %s has no channel %s; its channels are %s", safetext.Quote(n.name), safetext.Quote(channel), safetext.QuoteList(has))
}
