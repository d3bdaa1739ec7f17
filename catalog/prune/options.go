package prune

import (
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/version"
)

// Options say what to keep.
type Options struct {
	// Packages are chosen by their names. More than one Selection for a package
	// means all that any of them selects.
	Packages []Selection
	// Installed are versions that run somewhere. A package that is named only
	// here is kept from them to the heads of the channels that they are in.
	Installed []graph.Installed
	// DefaultChannels are to become the default channels of their packages.
	DefaultChannels map[string]string
	// WithoutDependencies leaves out what kept bundles require, for who has it
	// from elsewhere.
	WithoutDependencies bool
}

// Selection chooses versions of a package.
type Selection struct {
	Package string
	// Channels are those to keep; none means all.
	Channels []string
	// Versions are those to keep; the zero Range means all.
	Versions version.Range
	// HeadsOnly keeps of each channel only the nearest to its head.
	HeadsOnly bool
}

// has tells whether the selection is about a channel.
func (s Selection) has(channel string) bool {
	return len(s.Channels) == 0 || slices.Contains(s.Channels, channel)
}

// matches tells whether the version of an entry is selected.
func (s Selection) matches(e *catalog.EntryInfo) bool {
	return s.Versions.IsZero() || s.Versions.Contains(e.Bundle.Version.Version)
}
