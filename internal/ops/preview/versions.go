package preview

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// Versions are the versions of a package in each catalog that has it, newest first.
type Versions struct {
	Package  string           `json:"package"`
	Channel  string           `json:"channel,omitempty"`
	Versions []CatalogVersion `json:"versions"`
}

// CatalogVersion is a version in a catalog.
type CatalogVersion struct {
	Catalog string `json:"catalog"`
	Version
	// ChannelDeprecations say which of its channels are deprecated, and why.
	ChannelDeprecations map[string]string `json:"channelDeprecations,omitempty"`
}

// VersionsOf lists the versions of a package, those of one channel when one is named.
func VersionsOf(packages []*Package, name, channel string) Versions {
	all := Versions{Package: name, Channel: channel, Versions: []CatalogVersion{}}
	for _, p := range packages {
		if p.Name != name {
			continue
		}
		for _, v := range p.Versions {
			if channel != "" && !slices.Contains(v.Channels, channel) {
				continue
			}
			row := CatalogVersion{Catalog: p.Catalog, Version: v}
			for _, c := range p.Channels {
				if c.Deprecation != "" && slices.Contains(v.Channels, c.Name) {
					if row.ChannelDeprecations == nil {
						row.ChannelDeprecations = map[string]string{}
					}
					row.ChannelDeprecations[c.Name] = c.Deprecation
				}
			}
			all.Versions = append(all.Versions, row)
		}
	}
	slices.SortStableFunc(all.Versions, func(a, b CatalogVersion) int {
		return cmp.Or(b.released().Compare(a.released()), strings.Compare(a.Catalog, b.Catalog), strings.Compare(a.Name, b.Name))
	})
	return all
}

// Write prints a table. A channel whose head a version is has a star.
func (v Versions) Write(w io.Writer) error {
	rows := [][]string{{"VERSION", "BUNDLE", "CHANNELS", "CATALOG", "SUPPORT", "NOTES"}}
	starred := false
	for _, row := range v.Versions {
		channels := slices.Clone(row.Channels)
		for i, c := range channels {
			if slices.Contains(row.HeadOf, c) {
				channels[i], starred = c+"*", true
			}
		}
		note := ""
		if row.Deprecation != "" {
			note = "deprecated: " + row.Deprecation
		}
		rows = append(rows, []string{row.Version.Version, row.Name, strings.Join(channels, ","), row.Catalog, row.Support.String(), note})
	}
	text := messages.Table(rows...)
	if starred {
		text += "* newest of the channel\n"
	}
	_, err := fmt.Fprint(w, text)
	return err
}
