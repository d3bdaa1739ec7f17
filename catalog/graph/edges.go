package graph

import (
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// Kind says what makes an edge.
type Kind string

const (
	Replaces  Kind = "replaces"
	Skips     Kind = "skips"
	SkipRange Kind = "skipRange"
	// SameVersion is no edge of the catalog: v1 lets a version take the place
	// of one with the same version and release.
	SameVersion Kind = "same version"
)

// Edge is one reason why a version can be upgraded to another one.
type Edge struct {
	Kind    Kind   `json:"kind"`
	Channel string `json:"channel"`
	Range   string `json:"range,omitempty"` // of a skipRange
}

// String is the edge in words.
func (e Edge) String() string {
	text := string(e.Kind)
	if e.Range != "" {
		text += " " + safetext.Quote(e.Range)
	}
	return text + " in channel " + safetext.Quote(e.Channel)
}

// edges are those of an entry that lead from a version to it.
func (e *entry) edges(from *node) []Edge {
	var found []Edge
	if from == e.node {
		return nil
	}
	if e.replaces == from {
		found = append(found, Edge{Kind: Replaces, Channel: e.channel.name})
	}
	if slices.Contains(e.skips, from) {
		found = append(found, Edge{Kind: Skips, Channel: e.channel.name})
	}
	if from.known && e.skipRange.Contains(from.version.Version) {
		found = append(found, Edge{Kind: SkipRange, Channel: e.channel.name, Range: e.skipRange.String()})
	}
	return found
}

// isBack tells whether a version is newer than the entry.
func (e *entry) isBack(from *node) bool { return catalog.IsBack(from.version, e.node.version) }

// forward are those of its edges that count under v0: a skipRange leads back to
// no older version, or the head would go round for ever where it has no end.
func (e *entry) forward(from *node) []Edge {
	return slices.DeleteFunc(e.edges(from), func(found Edge) bool { return found.Kind == SkipRange && e.isBack(from) })
}

// edgesV0 are those that a Subscription goes by.
func (s scope) edgesV0(from, to *node) []Edge {
	var found []Edge
	for _, e := range to.entries {
		if s.has[e.channel] && e.offered() {
			found = append(found, e.forward(from)...)
		}
	}
	return found
}

// edgesV1 are those that a ClusterExtension goes by.
func (s scope) edgesV1(from, to *node) []Edge {
	var found []Edge
	if !to.usable {
		return nil
	}
	for _, e := range to.entries {
		if s.has[e.channel] {
			found = append(found, e.edges(from)...)
		}
	}
	if e := s.first(to); len(found) == 0 && e != nil && from != to && from.known && from.version.Compare(to.version) == 0 {
		found = append(found, Edge{Kind: SameVersion, Channel: e.channel.name})
	}
	return found
}
