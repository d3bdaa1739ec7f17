// Package listing lists what is in a catalog: packages, channels, and bundles by channel, as values for programs and as tables for
// people. It lists what an Index serves, and leaves it to the caller to tell about what is broken and so not in there.
//
// Start reading at Packages.
package listing

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// Package is a row of the list of packages.
type Package struct {
	Name           string `json:"name"`
	DisplayName    string `json:"displayName"`
	DefaultChannel string `json:"defaultChannel"`
	Deprecation    string `json:"deprecation,omitempty"`
}

// Channel is a row of the list of channels.
type Channel struct {
	Package     string `json:"package"`
	Name        string `json:"name"`
	Head        string `json:"head"`
	Deprecation string `json:"deprecation,omitempty"`
}

// Bundle is a row of the list of bundles: a bundle in one of its channels.
type Bundle struct {
	Package     string   `json:"package"`
	Channel     string   `json:"channel"`
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Replaces    string   `json:"replaces,omitempty"`
	Skips       []string `json:"skips,omitempty"`
	SkipRange   string   `json:"skipRange,omitempty"`
	Image       string   `json:"image"`
	Deprecation string   `json:"deprecation,omitempty"`
}

// Packages lists all packages by name. The display name is that of the head of the default channel.
func Packages(x *catalog.Index) ([]Package, error) {
	list := []Package{}
	for _, name := range x.PackageNames() {
		p, _ := x.Package(name)
		display, err := displayName(x, p)
		if err != nil {
			return nil, fmt.Errorf("list package %s: %w", name, err)
		}
		list = append(list, Package{Name: name, DisplayName: display, DefaultChannel: p.DefaultChannel, Deprecation: p.Deprecation})
	}
	return list, nil
}

// displayName is what the operator is called for people.
func displayName(x *catalog.Index, p *catalog.PackageInfo) (string, error) {
	if len(p.Channels) == 0 {
		return "", nil
	}
	c := p.Channels[0] // the default channel, unless it is broken
	head, ok := c.Entry(c.Head)
	if !ok {
		return "", nil
	}
	metadata, err := x.CSVMetadata(head.Bundle)
	if err != nil {
		return "", err
	}
	var csv struct {
		Kind        string
		DisplayName string                       // of olm.csv.metadata
		Spec        struct{ DisplayName string } // of the manifest
	}
	if metadata != nil && json.Unmarshal(metadata, &csv) == nil {
		return csv.DisplayName, nil
	}
	manifests, err := x.Manifests(head.Bundle)
	for _, manifest := range manifests {
		if json.Unmarshal(manifest, &csv) == nil && csv.Kind == "ClusterServiceVersion" {
			return csv.Spec.DisplayName, nil
		}
	}
	return "", err
}

// packages are those to list: all, or the one that is named.
func packages(x *catalog.Index, only string) ([]*catalog.PackageInfo, error) {
	names := x.PackageNames()
	if only != "" {
		names = []string{only}
	}
	var list []*catalog.PackageInfo
	for _, name := range names {
		p, ok := x.Package(name)
		if !ok {
			return nil, fmt.Errorf("package %q not found", name)
		}
		list = append(list, p)
	}
	return list, nil
}

// Channels lists the channels by package and name; those of one package if pkg is not empty.
func Channels(x *catalog.Index, pkg string) ([]Channel, error) {
	found, err := packages(x, pkg)
	if err != nil {
		return nil, err
	}
	list := []Channel{}
	for _, p := range found {
		for _, c := range channelsOf(p) {
			list = append(list, Channel{Package: p.Name, Name: c.Name, Head: c.Head, Deprecation: c.Deprecation})
		}
	}
	return list, nil
}

func channelsOf(p *catalog.PackageInfo) []*catalog.ChannelInfo {
	return slices.SortedFunc(slices.Values(p.Channels), func(a, b *catalog.ChannelInfo) int { return strings.Compare(a.Name, b.Name) })
}

// Bundles lists the entries of channels by package, channel and name; those of one package if pkg is not empty.
func Bundles(x *catalog.Index, pkg string) ([]Bundle, error) {
	found, err := packages(x, pkg)
	if err != nil {
		return nil, err
	}
	list := []Bundle{}
	for _, p := range found {
		for _, c := range channelsOf(p) {
			entries := slices.SortedFunc(slices.Values(c.Entries), func(a, b *catalog.EntryInfo) int { return strings.Compare(a.Name, b.Name) })
			for _, e := range entries {
				list = append(list, Bundle{
					Package: p.Name, Channel: c.Name, Name: e.Name, Version: e.Bundle.WrittenVersion(),
					Replaces: e.Replaces, Skips: e.Skips, SkipRange: e.SkipRange.String(),
					Image: e.Bundle.Image, Deprecation: e.Bundle.Deprecation,
				})
			}
		}
	}
	return list, nil
}

// PackageTable writes packages as a table.
func PackageTable(w io.Writer, list []Package) error {
	rows := [][]string{{"NAME", "DISPLAY NAME", "DEFAULT CHANNEL"}}
	for _, p := range list {
		rows = append(rows, []string{p.Name, p.DisplayName, p.DefaultChannel})
	}
	return table(w, rows)
}

// ChannelTable writes channels as a table.
func ChannelTable(w io.Writer, list []Channel) error {
	rows := [][]string{{"PACKAGE", "CHANNEL", "HEAD"}}
	for _, c := range list {
		rows = append(rows, []string{c.Package, c.Name, c.Head})
	}
	return table(w, rows)
}

// BundleTable writes bundles as a table.
func BundleTable(w io.Writer, list []Bundle) error {
	rows := [][]string{{"PACKAGE", "CHANNEL", "BUNDLE", "REPLACES", "SKIPS", "SKIP RANGE", "IMAGE"}}
	for _, b := range list {
		rows = append(rows, []string{b.Package, b.Channel, b.Name, b.Replaces, strings.Join(b.Skips, ","), b.SkipRange, b.Image})
	}
	return table(w, rows)
}

func table(w io.Writer, rows [][]string) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = safetext.OneLine(row[i])
		}
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print the list: %w", err)
	}
	return nil
}
