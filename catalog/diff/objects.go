package diff

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

func (c *comparison) comparePackages(_ string, old, now *catalog.Package) {
	change := Change{Op: opOf(old, now), Kind: KindPackage, Name: c.name}
	if change.Op != Changed {
		c.add(change)
		return
	}
	var f fields
	f.text("defaultChannel", old.DefaultChannel, now.DefaultChannel)
	f.text("description", old.Description, now.Description)
	f.text("icon", icon(old), icon(now))
	f.properties(old.Properties, now.Properties)
	c.addChanged(change, f)
}

// icon is the icon of a package as text, empty if there is none.
func icon(p *catalog.Package) string {
	if p.Icon == nil {
		return ""
	}
	return "data:" + p.Icon.MediaType + ";base64," + base64.StdEncoding.EncodeToString(p.Icon.Data)
}

// addChanged adds a change of fields, if there is one.
func (c *comparison) addChanged(change Change, f fields) {
	if len(f) > 0 {
		change.Fields = f
		c.add(change)
	}
}

func (c *comparison) compareChannels(name string, old, now *catalog.Channel) {
	change := Change{Op: opOf(old, now), Kind: KindChannel, Name: name}
	if change.Op != Changed {
		c.add(change)
		return
	}
	var f fields
	f.properties(old.Properties, now.Properties)
	c.addChanged(change, f)
	// Compare the entries of a channel, and the edges they make.
	channel := name
	entryName := func(e *catalog.Entry) string { return e.Name }
	match(pointers(old.Entries), pointers(now.Entries), entryName, func(name string, a, b *catalog.Entry) {
		if op := opOf(a, b); op != Changed {
			c.add(Change{Op: op, Kind: KindEntry, Channel: channel, Name: name})
		}
		edge := func(op Op, by, from string) {
			c.add(Change{Op: op, Kind: KindEdge, Channel: channel, Name: name, From: from, By: by})
		}
		was, is := edges(a), edges(b)
		for _, by := range []string{"replaces", "skips", "skipRange"} {
			removed, added := differences(was[by], is[by])
			for _, from := range removed {
				edge(Removed, by, from)
			}
			for _, from := range added {
				edge(Added, by, from)
			}
		}
	})
}

func (c *comparison) compareDeprecations(old, now []*catalog.Deprecations) {
	entries := func(all []*catalog.Deprecations) []*catalog.Deprecation {
		var found []*catalog.Deprecation
		for _, d := range all {
			found = append(found, pointers(d.Entries)...)
		}
		return found
	}
	name := func(d *catalog.Deprecation) string {
		kind := strings.TrimPrefix(d.Reference.Schema, "olm.")
		if d.Reference.Name == "" {
			return kind
		}
		return kind + " " + d.Reference.Name
	}
	match(entries(old), entries(now), name, func(name string, a, b *catalog.Deprecation) {
		var was, is string
		if a != nil {
			was = a.Message
		}
		if b != nil {
			is = b.Message
		}
		var f fields
		f.text("message", was, is)
		change := Change{Op: opOf(a, b), Kind: KindDeprecation, Name: name, Fields: f}
		if change.Op != Changed || len(f) > 0 {
			c.add(change)
		}
	})
}

func (c *comparison) compareBundles(name string, old, now *catalog.Bundle) error {
	change := Change{Op: opOf(old, now), Kind: KindBundle, Name: name}
	if change.Op != Changed {
		c.add(change)
		return nil
	}
	a, err := catalog.AppendObject(nil, old)
	if err != nil {
		return err
	}
	b, err := catalog.AppendObject(nil, now)
	if err != nil || bytes.Equal(a, b) {
		return err
	}
	was, err := old.AllProperties()
	if err != nil {
		return err
	}
	is, err := now.AllProperties()
	if err != nil {
		return err
	}
	var f fields
	f.text("image", old.Image, now.Image)
	f.properties(was, is)
	f.images(old.RelatedImages, now.RelatedImages)
	c.addChanged(change, f)
	return nil
}

// edges are where the edges of an entry come from, by what makes them.
func edges(e *catalog.Entry) map[string][]string {
	if e == nil {
		return nil
	}
	all := map[string][]string{"skips": slices.Compact(slices.Sorted(slices.Values(e.Skips)))}
	if e.Replaces != "" {
		all["replaces"] = []string{e.Replaces}
	}
	if e.SkipRange != "" {
		all["skipRange"] = []string{e.SkipRange}
	}
	return all
}

func pointers[T any](all []T) []*T {
	found := make([]*T, len(all))
	for i := range all {
		found[i] = &all[i]
	}
	return found
}
