package catalog

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"fairlead.dev/fairlead/version"
)

// Ref names a catalog of a cluster by the object that declares it. Cluster-scoped catalogs have no namespace.
type Ref struct {
	Namespace string
	Name      string
}

// String returns "namespace/name", or the bare name of a cluster-scoped catalog.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Compare orders references by namespace, then name.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Namespace, o.Namespace), cmp.Compare(r.Name, o.Name))
}

// PackageInfo is a package as served.
type PackageInfo struct {
	Name           string
	DefaultChannel string
	Description    string
	Icon           *Icon
	Deprecation    string         // why it is deprecated; empty when it is not
	Channels       []*ChannelInfo // the default channel first, then by name
	// Unusable are the entries of all channels, whether these are served or not, that have no bundle which can be used, by name; Problems
	// say why.
	Unusable []UnusableEntry
}

// UnusableEntry is a version of a package that cannot be used.
type UnusableEntry struct {
	Name     string
	Channels []string                // by name
	Version  *version.VersionRelease // nil when it is not known
}

// Channel finds a channel of the package. The default channel may be missing,
// too: what is broken is not served.
func (p *PackageInfo) Channel(name string) (*ChannelInfo, bool) {
	for _, c := range p.Channels {
		if c.Name == name {
			return c, true
		}
	}
	return nil, false
}

// ChannelInfo is a channel as served.
type ChannelInfo struct {
	Name        string
	Package     string
	Head        string // name of the first entry, that nothing else upgrades from; empty under v1 where the channel has no single head
	Deprecation string // why it is deprecated; empty when it is not
	// Entries are the replaces chain from the head down, then the skipped
	// entries by name. Without a head they are all by name.
	Entries []*EntryInfo
	// Missing are the entries of the chain whose bundles cannot be used, from
	// the head down; Problems say why.
	Missing []MissingEntry
}

// MissingEntry is an entry of a channel that is not served.
type MissingEntry struct {
	Name  string
	Place int // how many of the served entries are nearer to the head
}

// Newest is the entry at the head or, in a channel without a single one, the entry with the highest version.
func (c *ChannelInfo) Newest() *EntryInfo {
	if c.Head != "" {
		return c.Entries[0]
	}
	return slices.MaxFunc(c.Entries, func(a, b *EntryInfo) int { return Released(a.Bundle.Version).Compare(Released(b.Bundle.Version)) })
}

// Entry finds an entry of the channel.
func (c *ChannelInfo) Entry(name string) (*EntryInfo, bool) {
	for _, e := range c.Entries {
		if e.Name == name {
			return e, true
		}
	}
	return nil, false
}

// EntryInfo is a bundle's place in a channel.
type EntryInfo struct {
	Name      string
	Replaces  string
	Skips     []string
	SkipRange version.Range // zero when there is none
	InChain   bool          // on the replaces chain of the head
	Skipped   bool          // named in the skips of another entry
	Bundle    *BundleInfo   // never nil in an Index
}

// BundleInfo is an installable version of a package.
type BundleInfo struct {
	Package          string
	Name             string
	Version          version.VersionRelease // orders the bundles of a package
	VersionText      string                 // the version as written in the olm.package property
	Image            string
	Properties       []Property // without olm.bundle.object and olm.csv.metadata
	Provides         []GVK
	Requires         []GVK // of its properties; where these declare no need of any kind, what its CSV requires
	RequiredPackages []PackageRequirement
	Constraints      []json.RawMessage // values of olm.constraint, not interpreted
	RelatedImages    []RelatedImage
	Deprecation      string // the message about it; empty when there is none
	Deprecated       bool   // carries an olm.deprecated property
}

// WrittenVersion is the version, and the release if the bundle has one, as its
// author wrote them. A release that follows from build metadata only orders.
func (b *BundleInfo) WrittenVersion() string {
	if len(b.Version.Version.Build) == 0 && strings.Contains(b.VersionText, "+") {
		return b.VersionText
	}
	return b.Version.String()
}
