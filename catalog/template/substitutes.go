package template

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/version"
)

// substitution says that the bundle of an image takes the place of another
// bundle.
type substitution struct {
	name string // the image
	base string
	line int
}

// substitutes puts bundles into the places of others.
func (d *document) substitutes(ctx context.Context, o Options) (*catalog.Catalog, error) {
	d.warnUnknown("schema", "entries", "substitutions")
	c, err := d.entries(ctx)
	if err != nil {
		return nil, fmt.Errorf("render: entries are not valid FBC: %w", err)
	}
	if err := catalog.Validate(c).Err(); err != nil {
		return nil, fmt.Errorf("render: entries are not valid FBC: %w", err)
	}
	substitutions, err := d.substitutions()
	if err != nil {
		return nil, err
	}
	var references []reference
	for _, s := range substitutions {
		references = append(references, reference{s.name, s.line})
	}
	bundles, err := d.fetch(ctx, references, o)
	if err != nil {
		return nil, err
	}
	s := &substituter{c: c, versions: map[bundleKey]version.VersionRelease{}, bundles: map[bundleKey]int{}, channels: map[bundleKey][]int{}}
	for i, b := range c.Bundles {
		s.bundles[bundleKey{b.Package, b.Name}] = i
	}
	for i, ch := range c.Channels {
		for _, e := range ch.Entries {
			key := bundleKey{ch.Package, e.Name}
			s.channels[key] = append(s.channels[key], i)
		}
	}
	for _, sub := range substitutions {
		if err := s.substitute(sub.base, bundles[sub.name].Bundle); err != nil {
			return nil, d.fail(sub.line, "%w", err)
		}
	}
	if err := catalog.Validate(c).Err(); err != nil {
		return nil, fmt.Errorf("render: with the substitutions the catalog is not valid FBC: %w", err)
	}
	return c, nil
}

// substitutions reads the list of them.
func (d *document) substitutions() ([]substitution, error) {
	items, lines, err := d.list("substitutions")
	if err != nil {
		return nil, err
	}
	list := make([]substitution, len(items))
	names, bases := map[string]bool{}, map[string]bool{}
	for i, item := range items {
		s := &list[i]
		s.line = lines[i]
		if err := d.readSubstitution(s, item); err != nil {
			return nil, err
		}
		switch {
		case s.name == "":
			return nil, d.fail(s.line, "substitution name cannot be empty; it is the image of the bundle that takes the place of the base")
		case s.base == "":
			return nil, d.fail(s.line, "substitution base cannot be empty; it is the name of the bundle whose place is taken")
		case s.name == s.base:
			return nil, d.fail(s.line, "substitution name and base cannot be the same: %q", s.name)
		case names[s.name]:
			return nil, d.fail(s.line, "duplicate substitution name %q; a bundle can take one place", s.name)
		case bases[s.base]:
			return nil, d.fail(s.line, "duplicate substitution base %q; the place of a bundle can be taken once, that of its substitute after that", s.base)
		}
		names[s.name], bases[s.base] = true, true
	}
	return list, nil
}

func (d *document) readSubstitution(s *substitution, item []byte) error {
	for key, value := range rawjson.Members(item) {
		if err := d.mustBe("substitution "+key, "string", value, s.line); err != nil {
			return err
		}
		switch strings.ToLower(key) {
		case "name":
			s.name = rawjson.String(value)
		case "base":
			s.base = rawjson.String(value)
		default:
			return d.unknown(s.line, "substitutions[]."+key, "name and base")
		}
	}
	return nil
}

// substituter knows where in a catalog bundles are, so that a substitution
// costs no more than the channels that it changes.
type substituter struct {
	c        *catalog.Catalog
	versions map[bundleKey]version.VersionRelease // of those that were asked for
	bundles  map[bundleKey]int
	channels map[bundleKey][]int // that have an entry for the bundle
}

type bundleKey struct{ pkg, name string }

// substitute gives the place of base to b.
func (s *substituter) substitute(base string, b catalog.Bundle) error {
	old, taken := bundleKey{b.Package, base}, bundleKey{b.Package, b.Name}
	if _, ok := s.bundles[old]; !ok {
		return fmt.Errorf("base bundle %q does not exist in package %q, which is that of substitute bundle %q", base, b.Package, b.Name)
	}
	if _, ok := s.bundles[taken]; ok {
		return fmt.Errorf("substitute bundle %q is in the entries already; remove it there", b.Name)
	}
	if err := s.checkVersions(old, b); err != nil {
		return err
	}
	for _, i := range s.channels[old] {
		substituteEntry(&s.c.Channels[i], base, b.Name)
	}
	s.bundles[taken] = len(s.c.Bundles)
	s.c.Bundles = append(s.c.Bundles, b)
	s.channels[taken] = s.channels[old]
	return nil
}

func (s *substituter) checkVersions(base bundleKey, b catalog.Bundle) error {
	v, err := semverOf(b)
	if err != nil {
		return fmt.Errorf("substitute bundle %q: %w", b.Name, err)
	}
	s.versions[bundleKey{b.Package, b.Name}] = v
	old, ok := s.versions[base]
	if !ok {
		if old, err = semverOf(s.c.Bundles[s.bundles[base]]); err != nil {
			return fmt.Errorf("base bundle %q: %w", base.name, err)
		}
	}
	if old.Compare(v) >= 0 {
		return fmt.Errorf("base bundle %q is not less than substitute bundle %q: their versions are %s and %s", base.name, b.Name, old, v)
	}
	return nil
}

// substituteEntry changes a channel so that what led to base leads to its
// substitute. An entry that replaced base still takes an installed base along.
// One that skipped base skips the substitute in its place: with both, an
// installed base could pass the substitute by.
func substituteEntry(ch *catalog.Channel, base, substitute string) {
	taken := catalog.Entry{Name: substitute}
	for i := range ch.Entries {
		e := &ch.Entries[i]
		switch {
		case e.Name == base:
			taken.Replaces, taken.Skips, taken.SkipRange = e.Replaces, slices.Clone(e.Skips), e.SkipRange
			e.Replaces, e.Skips, e.SkipRange = "", nil, ""
		case e.Replaces == base:
			e.Replaces = substitute
			e.Skips = addSkip(e.Skips, base)
		case slices.Contains(e.Skips, base):
			skips := slices.DeleteFunc(slices.Clone(e.Skips), func(name string) bool { return name == base })
			e.Skips = addSkip(skips, substitute)
		}
	}
	taken.Skips = addSkip(taken.Skips, base)
	ch.Entries = append(ch.Entries, taken)
}

func addSkip(skips []string, name string) []string {
	if slices.Contains(skips, name) {
		return skips
	}
	return append(slices.Clip(skips), name)
}
