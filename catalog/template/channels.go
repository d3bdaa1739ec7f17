package template

import (
	"cmp"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// channel is a channel that a semver template makes.
type channel struct {
	name      string
	archetype int
	stream    string
	lowest    version.VersionRelease // the version that it was made for
	entries   []catalog.Entry
}

// channels are those of all archetypes, the default channel first.
func (t *semverTemplate) channels(ladders [][]rung) []*channel {
	var all []*channel
	for archetype, ladder := range ladders {
		if t.majorChannels {
			all = append(all, streamChannels(archetype, major, ladder)...)
		}
		if t.minorChannels {
			all = append(all, streamChannels(archetype, minor, ladder)...)
		}
	}
	best := slices.MaxFunc(all, func(a, b *channel) int {
		switch order := cmp.Or(cmp.Compare(a.archetype, b.archetype), a.lowest.Compare(b.lowest)); {
		case order != 0 || a.stream == b.stream:
			return order
		case a.stream == t.preference:
			return 1
		}
		return -1
	})
	i := slices.Index(all, best)
	return append([]*channel{best}, slices.Concat(all[:i], all[i+1:])...)
}

// streamChannels makes the channels of one archetype and kind. Within a major
// version, the newest bundle of each minor version replaces the newest of the
// minor version before, and skips all else that is older; other bundles
// upgrade from nothing, and nothing leads from one major version to the next.
func streamChannels(archetype int, stream string, ladder []rung) []*channel {
	var all []*channel
	byName := map[string]*channel{}
	var older []string  // of the same major version
	var replaces string // the newest bundle of the minor version before
	for i, r := range ladder {
		v := r.version.Version
		if i > 0 && ladder[i-1].version.Version.Major != v.Major {
			older, replaces = nil, ""
		}
		name := fmt.Sprintf("%s-v%d", archetypes[archetype], v.Major)
		if stream == minor {
			name = fmt.Sprintf("%s.%d", name, v.Minor)
		}
		c := byName[name]
		if c == nil {
			c = &channel{name: name, archetype: archetype, stream: stream, lowest: r.version}
			byName[name] = c
			all = append(all, c)
		}
		entry := catalog.Entry{Name: r.name}
		newest := i == len(ladder)-1 || !(v.Major == ladder[i+1].version.Version.Major && v.Minor == ladder[i+1].version.Version.Minor)
		if newest {
			entry.Replaces = replaces
			for _, skipped := range older {
				if skipped != replaces {
					entry.Skips = append(entry.Skips, skipped)
				}
			}
			slices.Sort(entry.Skips)
			replaces = r.name
		}
		c.entries = append(c.entries, entry)
		older = append(older, r.name)
	}
	return all
}

// assemble makes the catalog. The first of the channels is the default one,
// and the newest bundle in it says what the package is.
func (d *document) assemble(pkg string, channels []*channel, images []reference, bundles map[string]Bundle) *catalog.Catalog {
	c := &catalog.Catalog{}
	byName := map[string]Bundle{}
	seen := map[string]bool{}
	for _, r := range images {
		if seen[r.image] {
			continue
		}
		seen[r.image] = true
		b := bundles[r.image]
		byName[b.Name] = b
		c.Bundles = append(c.Bundles, b.Bundle)
	}
	entries := channels[0].entries
	newest := byName[entries[len(entries)-1].Name]
	c.Packages = []catalog.Package{{
		Schema: catalog.SchemaPackage, Name: pkg, DefaultChannel: channels[0].name,
		Description: newest.Description, Icon: newest.Icon, Position: d.at(d.line),
	}}
	for _, ch := range channels {
		c.Channels = append(c.Channels, catalog.Channel{
			Schema: catalog.SchemaChannel, Name: ch.name, Package: pkg, Entries: ch.entries, Position: d.at(d.line),
		})
	}
	return c
}
