package graph

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// maxEdges is how many edges a drawing may have: more could not be seen, and a
// skipRange for each of many entries would make it endless.
const maxEdges = 200_000

// DrawOptions choose what is drawn.
type DrawOptions struct {
	// Package is the only one to draw; empty means all of them.
	Package string
	// MinimumEdge is the name of the oldest bundle to draw: its package is drawn
	// from that version on. Empty means everything.
	MinimumEdge string
	// V0 marks the edges that v0 does not follow: those to skipped entries and,
	// as mermaid, a skip of what a newer entry skips too.
	V0 bool
}

// Picture is what a drawing shows, and itself a form for programs.
type Picture struct {
	Packages []PackagePicture `json:"packages"`
	v0       bool
}

// PackagePicture is a package in a Picture.
type PackagePicture struct {
	Name           string           `json:"name"`
	DefaultChannel string           `json:"defaultChannel,omitempty"`
	Deprecated     bool             `json:"deprecated,omitempty"`
	Channels       []ChannelPicture `json:"channels"` // by name
}

// ChannelPicture is a channel in a Picture.
type ChannelPicture struct {
	Name       string         `json:"name"`
	Head       string         `json:"head,omitempty"`
	Refused    string         `json:"refused,omitempty"` // why v0 leaves it out
	Deprecated bool           `json:"deprecated,omitempty"`
	Entries    []EntryPicture `json:"entries"` // the newest first
}

// EntryPicture is an entry in a Picture.
type EntryPicture struct {
	Name       string        `json:"name"`
	Version    string        `json:"version,omitempty"`   // empty when it is not known
	OnChain    bool          `json:"onChain,omitempty"`   // of replaces from the head
	SkippedBy  string        `json:"skippedBy,omitempty"` // an entry of the channel
	Deprecated bool          `json:"deprecated,omitempty"`
	NoBundle   bool          `json:"noBundle,omitempty"`
	SkipRange  string        `json:"skipRange,omitempty"`
	Edges      []EdgePicture `json:"edges"` // to this entry: skips, skipRange, replaces
}

// EdgePicture is an edge that leads to the entry that has it.
type EdgePicture struct {
	From  string `json:"from"`
	Kind  Kind   `json:"kind"`
	Range string `json:"range,omitempty"` // of a skipRange
}

// NewPicture shows the graphs of a catalog, sound or not.
func NewPicture(c *catalog.Catalog, opts DrawOptions) (*Picture, error) {
	p := painter{picture: &Picture{v0: opts.V0, Packages: []PackagePicture{}}, left: maxEdges}
	all := networks(c)
	if opts.Package != "" {
		all = slices.DeleteFunc(all, func(n *network) bool { return n.name != opts.Package })
		if len(all) == 0 {
			return nil, fmt.Errorf("draw the upgrade graph: the catalog has no package %s", safetext.Quote(opts.Package))
		}
	}
	if opts.MinimumEdge != "" {
		all = slices.DeleteFunc(all, func(n *network) bool {
			return n.nodes[opts.MinimumEdge] == nil || n.nodes[opts.MinimumEdge].bundle == nil
		})
		if len(all) == 0 {
			return nil, fmt.Errorf("unknown minimum edge name: %s", safetext.Quote(opts.MinimumEdge))
		}
	}
	for _, n := range all {
		if len(n.channels) > 0 {
			p.paint(n, n.nodes[opts.MinimumEdge])
		}
	}
	if p.left < 0 {
		return nil, fmt.Errorf("draw the upgrade graph: it has more than %d edges; draw one package, or from a minimum edge on", maxEdges)
	}
	return p.picture, nil
}

type painter struct {
	picture *Picture
	left    int   // edges that may still be drawn
	floor   *node // nil for none
}

func (p *painter) paint(n *network, floor *node) {
	p.floor = floor
	drawn := PackagePicture{Name: n.name, Deprecated: n.deprecation != ""}
	if n.source != nil {
		drawn.DefaultChannel = n.source.DefaultChannel
	}
	for _, c := range n.channels {
		channel := ChannelPicture{Name: c.name, Refused: c.refusal, Deprecated: c.deprecation != "", Entries: []EntryPicture{}}
		if head := c.head(); head != nil {
			channel.Head = head.name
		}
		entries := slices.Clone(c.entries)
		slices.SortStableFunc(entries, func(a, b *entry) int { return b.node.compare(a.node) })
		ascending := make([]*node, 0, len(entries))
		for _, e := range slices.Backward(entries) {
			if e.node.known {
				ascending = append(ascending, e.node)
			}
		}
		for _, e := range entries {
			if p.left < 0 {
				return
			}
			if edges, ok := p.edges(e, ascending); ok {
				picture := EntryPicture{
					Name: e.node.name, Version: e.node.stop().Version, OnChain: e.onLine && c.refusal == "",
					Deprecated: e.node.deprecation != "" || e.node.forbidden, NoBundle: e.node.bundle == nil, Edges: edges,
				}
				if by := c.chain.skipped[e.node]; by != nil {
					picture.SkippedBy = by.node.name
				}
				if p.ranged(e) {
					picture.SkipRange = e.skipRange.String()
				}
				channel.Entries = append(channel.Entries, picture)
			}
		}
		if len(channel.Entries) > 0 || p.floor == nil {
			drawn.Channels = append(drawn.Channels, channel)
		}
	}
	slices.SortStableFunc(drawn.Channels, func(a, b ChannelPicture) int { return strings.Compare(a.Name, b.Name) })
	p.picture.Packages = append(p.picture.Packages, drawn)
}

// edges are those to an entry that are above the floor. It tells whether the
// entry is drawn: the floor itself is, others are not when all their edges are
// below, or when they have none and are below themselves.
func (p *painter) edges(e *entry, ascending []*node) ([]EdgePicture, bool) {
	edges := []EdgePicture{}
	add := func(v *node, kind Kind, text string) {
		if p.left--; p.left >= 0 && p.above(v) {
			edges = append(edges, EdgePicture{From: v.name, Kind: kind, Range: text})
		}
	}
	for _, v := range e.skips {
		add(v, Skips, "")
	}
	had := len(e.named()) > 0 || !e.skipRange.IsZero()
	if p.ranged(e) {
		spans(ascending, e.skipRange, func(from, to int) {
			for i := to - 1; i >= from && p.left >= 0; i-- {
				if ascending[i] != e.node {
					add(ascending[i], SkipRange, e.skipRange.String())
				}
			}
		})
	}
	if e.replaces != nil {
		add(e.replaces, Replaces, "")
	}
	return edges, p.floor == nil || e.node == p.floor || len(edges) > 0 || !had && p.above(e.node)
}

// ranged tells whether the skipRange of an entry reaches above the floor.
func (p *painter) ranged(e *entry) bool {
	return p.floor == nil || e.skipRange.Contains(p.floor.version.Version)
}

// above tells whether a version is not below the floor.
func (p *painter) above(v *node) bool {
	return p.floor == nil || v.known && v.version.Compare(p.floor.version) >= 0
}
