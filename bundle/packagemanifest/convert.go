package packagemanifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// Convert reads a tree in the layout and returns its packages as a catalog. The warnings say what was passed over.
//
// If package files break rules, the error is a *catalog.InvalidError that lists all of it, and the Catalog holds the other packages, as
// with catalog.Load.
func Convert(ctx context.Context, tree fs.FS) (c *catalog.Catalog, warnings []string, err error) {
	sources := find(tree)
	if len(sources) == 0 {
		return nil, nil, errors.New("there is no package file; name the package and its channels in a file such as name.package.yaml")
	}
	c = &catalog.Catalog{}
	for _, s := range sources {
		if len(s.problems) > 0 {
			c.LoadProblems = append(c.LoadProblems, s.problems...)
			continue
		}
		found, err := s.convert(ctx, tree, c)
		if err != nil {
			return nil, nil, fmt.Errorf("convert package %s of %s: %w", s.manifest.PackageName, s.file, err)
		}
		warnings = append(warnings, found...)
	}
	return c, warnings, c.LoadProblems.Err()
}

// convert adds one package to a catalog.
func (s source) convert(ctx context.Context, tree fs.FS, c *catalog.Catalog) ([]string, error) {
	r := &reader{ctx: ctx, tree: tree, skip: s.file, bundles: map[string]*bundle.Bundle{}, files: map[string]string{}}
	if err := r.dir(s.dir, 1); err != nil {
		return nil, err
	}
	// Find channels whose heads are not there.
	k := &checker{manifest: s.manifest, file: bundle.File{Name: s.file}, lines: s.lines}
	known := "no ClusterServiceVersions"
	if len(r.bundles) > 0 {
		known = safetext.List(slices.Sorted(maps.Keys(r.bundles)), 10, ", ")
	}
	for i, channel := range s.manifest.Channels {
		if _, ok := r.bundles[channel.CurrentCSV]; !ok {
			k.add(RuleHead, fmt.Sprintf("channels[%d].currentCSV", i),
				fmt.Sprintf("the head of channel %s, %s, is not there; there are %s", channel.Name, channel.CurrentCSV, known),
				"correct the name, or add the ClusterServiceVersion")
		}
	}
	if problems := k.problems; len(problems) > 0 {
		c.LoadProblems = append(c.LoadProblems, problems...)
		return r.warnings, nil
	}
	pkg := catalog.Package{
		Schema: catalog.SchemaPackage, Name: s.manifest.PackageName, DefaultChannel: s.manifest.DefaultChannel,
		Position: s.at("packageName"),
	}
	used := map[string]bool{}
	for i, channel := range s.manifest.Channels {
		head := r.bundles[channel.CurrentCSV]
		if channel.Name == pkg.DefaultChannel {
			pkg.Description, pkg.Icon = head.CSV.Spec.Description, head.Icon()
		}
		converted := catalog.Channel{
			Schema: catalog.SchemaChannel, Name: channel.Name, Package: pkg.Name, Entries: r.entriesOf(head),
			Position: s.at(fmt.Sprintf("channels[%d]", i)),
		}
		for _, e := range converted.Entries {
			used[e.Name] = true
		}
		c.Channels = append(c.Channels, converted)
	}
	c.Packages = append(c.Packages, pkg)
	// Add the bundles that are in a channel, with their manifests.
	for _, name := range slices.Sorted(maps.Keys(r.bundles)) {
		if !used[name] {
			r.warn("%s: passed over: no channel of package %s leads to %s", r.files[name], pkg.Name, name)
			continue
		}
		b := r.bundles[name]
		b.Package = pkg.Name
		converted, err := b.ToCatalog("")
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", r.files[name], err)
		}
		converted.Position = catalog.Position{File: r.files[name]}
		c.Bundles = append(c.Bundles, converted)
	}
	return r.warnings, nil
}

// entriesOf follows a channel down from its head: what is replaced, and what is skipped on the way, as far as it is there.
func (r *reader) entriesOf(head *bundle.Bundle) []catalog.Entry {
	var entries []catalog.Entry
	seen := map[string]bool{}
	add := func(b *bundle.Bundle) {
		if !seen[b.Name] {
			seen[b.Name] = true
			e := catalog.Entry{Name: b.Name, Replaces: b.CSV.Spec.Replaces, SkipRange: b.CSV.Annotations[SkipRangeAnnotation]}
			for _, skip := range b.CSV.Spec.Skips {
				if skip != "" {
					e.Skips = append(e.Skips, skip)
				}
			}
			entries = append(entries, e)
		}
	}
	var chain []*bundle.Bundle
	for b := head; b != nil && !seen[b.Name]; b = r.bundles[b.CSV.Spec.Replaces] {
		add(b)
		chain = append(chain, b)
	}
	for _, b := range chain {
		for _, name := range b.CSV.Spec.Skips {
			if skipped, ok := r.bundles[name]; ok {
				add(skipped)
			}
		}
	}
	return entries
}

// SkipRangeAnnotation of a ClusterServiceVersion is the range of versions that it upgrades from directly.
const SkipRangeAnnotation = "olm.skipRange"
