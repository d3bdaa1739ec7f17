package preview

import (
	"cmp"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/version"
)

// Package is what one catalog offers of one package.
type Package struct {
	Name string `json:"name"`
	// Catalog is the ClusterCatalog, or NAMESPACE/NAME of the CatalogSource, or what --catalog named.
	Catalog     string `json:"catalog"`
	DisplayName string `json:"displayName,omitempty"`
	// Description is one line.
	Description    string `json:"description,omitempty"`
	Provider       string `json:"provider,omitempty"`
	DefaultChannel string `json:"defaultChannel"`
	// Newest is the version at the head of the default channel, and Bundle the name of that version.
	Newest      string `json:"newest,omitempty"`
	Bundle      string `json:"bundle,omitempty"`
	Deprecation string `json:"deprecation,omitempty"`
	// InstallModes are those that the newest version supports; none when the catalog does not tell.
	InstallModes []string `json:"installModes,omitempty"`
	// Provides are the kinds of the newest version, as KIND (GROUP/VERSION), Requires what it needs.
	Provides []string `json:"provides,omitempty"`
	Requires []string `json:"requires,omitempty"`
	Keywords []string `json:"keywords,omitempty"`
	// Categories and Capability are what the newest version says of itself in the annotations categories and capabilities.
	Categories []string `json:"categories,omitempty"`
	Capability string   `json:"capability,omitempty"`
	// SuggestedNamespace is where the newest version suggests to be installed.
	SuggestedNamespace string `json:"suggestedNamespace,omitempty"`

	// Channels are the default channel first, then the others by name, with the numbers in it.
	Channels []Channel `json:"channels"`
	// Versions are newest first.
	Versions []Version `json:"versions,omitempty"`

	priority int32 // of the ClusterCatalog
}

// Channel is a channel of a package.
type Channel struct {
	Name string `json:"name"`
	// Head is the name of the newest version in the channel, and Newest its version.
	Head   string `json:"head"`
	Newest string `json:"newest,omitempty"`
	// Versions is how many there are.
	Versions    int    `json:"versions"`
	Deprecation string `json:"deprecation,omitempty"`
}

// Version is a version of a package.
type Version struct {
	Version  string   `json:"version"`
	Name     string   `json:"name"`
	Channels []string `json:"channels"`
	// HeadOf are the channels that it is the newest version of.
	HeadOf      []string `json:"headOf,omitempty"`
	Image       string   `json:"image,omitempty"`
	Deprecation string   `json:"deprecation,omitempty"`
	// Support is what the catalog says of how long it is supported.
	Support catalog.Support `json:"support"`

	order *version.VersionRelease // of the index, mostly; nil where the version is none
}

// released is the version as it is ordered among those of a package. What is no version comes last.
func (v *Version) released() version.VersionRelease {
	if v.order == nil {
		return version.VersionRelease{}
	}
	return *v.order
}

// arrange puts versions in order, newest first, and channels: the default one first, the others as people count.
func (p *Package) arrange(versions map[string]*Version) {
	p.Versions = make([]Version, 0, len(versions)) // exactly: consoles keep those of whole catalogs
	for _, v := range versions {
		slices.SortFunc(v.Channels, p.before)
		slices.SortFunc(v.HeadOf, p.before)
		p.Versions = append(p.Versions, *v)
	}
	slices.SortFunc(p.Versions, func(a, b Version) int {
		return cmp.Or(b.released().Compare(a.released()), safetext.Natural(a.Name, b.Name))
	})
	slices.SortFunc(p.Channels, func(a, b Channel) int { return p.before(a.Name, b.Name) })
}

// before compares channels: the default one comes first.
func (p *Package) before(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == p.DefaultChannel:
		return -1
	case b == p.DefaultChannel:
		return 1
	}
	return safetext.Natural(a, b)
}

// firstLine is a text of several lines as one: its first that says something, without the marks of Markdown headings.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# ")); line != "" {
			return line
		}
	}
	return ""
}

// groupVersion is the group of a CustomResourceDefinition's name, plural.group, with a version.
func groupVersion(name, version string) string {
	_, group, _ := strings.Cut(name, ".")
	return group + "/" + version
}
