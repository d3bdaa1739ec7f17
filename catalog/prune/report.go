package prune

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead.dev/fairlead/catalog"
)

// Report says what was kept and why, and what was dropped.
type Report struct {
	Packages []Package `json:"packages"` // that are kept, by name
	Dropped  []string  `json:"dropped"`  // packages, by name
	Notes    []string  `json:"notes,omitempty"`
	Images   []Image   `json:"images"`
}

// Package is what is kept of a package. Everything is sorted by name.
type Package struct {
	Name                 string    `json:"name"`
	Why                  []string  `json:"why"`
	DefaultChannel       string    `json:"defaultChannel"`
	FormerDefaultChannel string    `json:"formerDefaultChannel,omitempty"` // if it is another one now
	Channels             []Channel `json:"channels"`
	Bundles              []Bundle  `json:"bundles"`
	DroppedChannels      []string  `json:"droppedChannels,omitempty"`
	DroppedBundles       []string  `json:"droppedBundles,omitempty"`
}

// Channel is what is kept of a channel.
type Channel struct {
	Name       string   `json:"name"`
	Why        []string `json:"why"`
	Head       string   `json:"head"`
	FormerHead string   `json:"formerHead,omitempty"` // if it is another one now
	Tail       string   `json:"tail"`                 // the end of what is kept of the replaces chain
	Entries    int      `json:"entries"`
}

// Bundle is a kept bundle.
type Bundle struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Why     []string `json:"why"`
}

// Image is what a mirror needs.
type Image struct {
	Image string `json:"image"`
	// Digest is part of the image's name; empty if it is named by a tag.
	Digest string `json:"digest,omitempty"`
	// IsBundle is set for the image of a bundle itself.
	IsBundle bool `json:"isBundle,omitempty"`
	// Bundles are those that need it, as package/bundle, sorted.
	Bundles []string `json:"bundles"`
}

// images lists what the bundles of a catalog refer to, sorted.
func images(c *catalog.Catalog) []Image {
	found := map[string]*Image{}
	use := func(image, by string) *Image {
		if found[image] == nil {
			_, digest, _ := strings.Cut(image, "@")
			found[image] = &Image{Image: image, Digest: digest}
		}
		i := found[image]
		if last := len(i.Bundles) - 1; last < 0 || i.Bundles[last] != by {
			i.Bundles = append(i.Bundles, by)
		}
		return i
	}
	for _, b := range c.Bundles {
		by := b.Package + "/" + b.Name
		if b.Image != "" {
			use(b.Image, by).IsBundle = true
		}
		for _, related := range b.RelatedImages {
			if related.Image != "" {
				use(related.Image, by)
			}
		}
	}
	all := make([]Image, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		slices.Sort(found[name].Bundles)
		all = append(all, *found[name])
	}
	return all
}

// WriteImages writes the names of the images, one a line.
func (r *Report) WriteImages(w io.Writer) error {
	var b strings.Builder
	for _, i := range r.Images {
		b.WriteString(i.Image + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Write writes the report for people.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	for _, pkg := range r.Packages {
		fmt.Fprintf(&b, "package %s: %s\n", show(pkg.Name), strings.Join(pkg.Why, "; "))
		for _, c := range pkg.Channels {
			fmt.Fprintf(&b, "  channel %s: %s", show(c.Name), show(c.Head))
			if c.Entries > 1 {
				fmt.Fprintf(&b, " down to %s, %d entries", show(c.Tail), c.Entries)
			}
			if c.FormerHead != "" {
				fmt.Fprintf(&b, "; the head was %s", show(c.FormerHead))
			}
			fmt.Fprintf(&b, " (%s)\n", strings.Join(c.Why, "; "))
		}
		for _, bundle := range pkg.Bundles {
			fmt.Fprintf(&b, "  bundle %s: %s\n", show(bundle.Name), strings.Join(bundle.Why, "; "))
		}
		if len(pkg.DroppedChannels) > 0 {
			fmt.Fprintf(&b, "  dropped channels (%d): %s\n", len(pkg.DroppedChannels), strings.Join(shown(pkg.DroppedChannels), ", "))
		}
		if len(pkg.DroppedBundles) > 0 {
			fmt.Fprintf(&b, "  dropped bundles (%d): %s\n", len(pkg.DroppedBundles), strings.Join(shown(pkg.DroppedBundles), ", "))
		}
	}
	if len(r.Dropped) > 0 {
		fmt.Fprintf(&b, "dropped packages (%d): %s\n", len(r.Dropped), strings.Join(shown(r.Dropped), ", "))
	}
	fmt.Fprintf(&b, "images: %d\n", len(r.Images))
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func shown(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = show(name)
	}
	return all
}

// reasons say why something is kept, each once, in the order they came up. Of
// many only the first are remembered.
type reasons []string

const mostReasons = 8

func (r *reasons) add(reason string) {
	if len(*r) < mostReasons && !slices.Contains(*r, reason) {
		*r = append(*r, reason)
	}
}

// show is a name as it may stand in a report: as it is, unless it holds what
// could not be seen, or would steer a terminal.
func show(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
