package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// Compare reports how b differs from a. Neither is changed. It fails only if
// something of a catalog cannot be read, such as payloads that were not loaded.
func Compare(a, b *catalog.Catalog) (*Report, error) {
	before, err := catalog.NewIndex(a, "the first")
	var after *catalog.Index
	if err == nil {
		after, err = catalog.NewIndex(b, "the second")
	}
	if err != nil {
		return nil, fmt.Errorf("compare catalogs: %w", err)
	}
	old, now := partsOf(a), partsOf(b)
	r := &Report{Packages: []Package{}}
	for _, name := range keys(old, now) {
		c := comparison{name: name, old: old[name], now: now[name]}
		if err := c.compare(); err != nil {
			return nil, fmt.Errorf("compare catalogs: package %q: %w", name, err)
		}
		slices.SortStableFunc(c.changes, func(a, b Change) int {
			return cmp.Or(
				cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)),
				strings.Compare(a.Channel, b.Channel),
				strings.Compare(a.Name, b.Name),
				strings.Compare(a.From, b.From),
			)
		})
		if name == "" {
			r.Objects = c.changes
			continue
		}
		if len(c.changes) > 0 {
			p := Package{Name: name, Op: opOf(c.old, c.now), Changes: c.changes}
			p.Consequences = consequences(before, after, c)
			r.Packages = append(r.Packages, p)
		}
	}
	return r, nil
}

// parts are the objects of one package.
type parts struct {
	packages     []*catalog.Package
	channels     []*catalog.Channel
	bundles      []*catalog.Bundle
	deprecations []*catalog.Deprecations
	others       []*catalog.Meta
}

func partsOf(c *catalog.Catalog) map[string]*parts {
	all := map[string]*parts{}
	of := func(name string) *parts {
		if all[name] == nil {
			all[name] = &parts{}
		}
		return all[name]
	}
	for i := range c.Packages {
		p := of(c.Packages[i].Name)
		p.packages = append(p.packages, &c.Packages[i])
	}
	for i := range c.Channels {
		p := of(c.Channels[i].Package)
		p.channels = append(p.channels, &c.Channels[i])
	}
	for i := range c.Bundles {
		p := of(c.Bundles[i].Package)
		p.bundles = append(p.bundles, &c.Bundles[i])
	}
	for i := range c.Deprecations {
		p := of(c.Deprecations[i].Package)
		p.deprecations = append(p.deprecations, &c.Deprecations[i])
	}
	for i := range c.Others {
		p := of(c.Others[i].Package)
		p.others = append(p.others, &c.Others[i])
	}
	return all
}

// comparison is a package that is being compared; one of its sides may be nil.
type comparison struct {
	name     string
	old, now *parts
	changes  []Change
}

func (c *comparison) add(change Change) { c.changes = append(c.changes, change) }

func (c *comparison) compare() error {
	old, now := c.old, c.now
	if old == nil {
		old = &parts{}
	}
	if now == nil {
		now = &parts{}
	}
	match(old.packages, now.packages, func(p *catalog.Package) string { return "" }, c.comparePackages)
	match(old.channels, now.channels, func(ch *catalog.Channel) string { return ch.Name }, c.compareChannels)
	c.compareDeprecations(old.deprecations, now.deprecations)
	var err error
	match(old.bundles, now.bundles, func(b *catalog.Bundle) string { return b.Name }, func(name string, a, b *catalog.Bundle) {
		err = cmp.Or(err, c.compareBundles(name, a, b))
	})
	if err != nil {
		return err
	}
	// Compare objects that have no identity but what they say of themselves. What is the same in both catalogs comes first; of the
	// rest, one object of a schema and name may have become another.
	a, b := withoutCommon(old.others, now.others)
	var failed error
	match(a, b, func(m *catalog.Meta) string {
		if m.Name == "" {
			return m.Schema
		}
		return m.Schema + " " + m.Name
	}, func(name string, x, y *catalog.Meta) {
		change := Change{Op: opOf(x, y), Kind: KindObject, Name: name}
		if change.Op != Changed {
			c.add(change)
			return
		}
		var was, is map[string]json.RawMessage
		if err := cmp.Or(json.Unmarshal(x.Blob, &was), json.Unmarshal(y.Blob, &is)); err != nil {
			failed = fmt.Errorf("object %q: %w", name, err)
		}
		var f fields
		f.members("", was, is)
		c.addChanged(change, f)
	})
	return failed
}

// match calls use with what has the same name in both lists, in order; one of
// the two is nil if only one list has it. What has a name more than once is
// matched in the order it comes.
func match[T any](old, now []*T, name func(*T) string, use func(name string, old, now *T)) {
	byName := func(all []*T) map[string][]*T {
		found := map[string][]*T{}
		for _, x := range all {
			found[name(x)] = append(found[name(x)], x)
		}
		return found
	}
	a, b := byName(old), byName(now)
	for _, n := range keys(a, b) {
		for i := range max(len(a[n]), len(b[n])) {
			var x, y *T
			if i < len(a[n]) {
				x = a[n][i]
			}
			if i < len(b[n]) {
				y = b[n][i]
			}
			use(n, x, y)
		}
	}
}

// keys are those of both maps, sorted.
func keys[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// opOf says what happened to something of which one side may be missing.
func opOf[T any](old, now *T) Op {
	switch {
	case old == nil:
		return Added
	case now == nil:
		return Removed
	}
	return Changed
}

var kindOrder = []Kind{KindPackage, KindChannel, KindEntry, KindEdge, KindBundle, KindDeprecation, KindObject}

// withoutCommon leaves out of two lists what is in both, as often as it is.
func withoutCommon(old, now []*catalog.Meta) (a, b []*catalog.Meta) {
	count := map[string]int{}
	for _, m := range now {
		count[string(m.Blob)]++
	}
	common := map[string]int{}
	for _, m := range old {
		if count[string(m.Blob)] > common[string(m.Blob)] {
			common[string(m.Blob)]++
		} else {
			a = append(a, m)
		}
	}
	for _, m := range now {
		if common[string(m.Blob)] > 0 {
			common[string(m.Blob)]--
		} else {
			b = append(b, m)
		}
	}
	return a, b
}
