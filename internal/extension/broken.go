package extension

import (
	"fmt"

	"fairlead.dev/fairlead/catalog"
)

// leftOut points to what of the package is left out of a catalog because it breaks a rule there; empty when nothing is. A channel that is
// asked for, or a version that it misses, is told before anything else.
func (b *builder) leftOut() string {
	best, text := 0, ""
	for _, c := range b.catalogs {
		if c.Index == nil {
			continue
		}
		for _, p := range c.Index.Problems() {
			if weight := b.weight(c, p); weight > best {
				best, text = weight, fmt.Sprintf("something of the package cannot be used in catalog %s: %s", c.Name, p)
			}
		}
	}
	return text
}

// weight is how much a problem matters to the request; 0 when it does not.
func (b *builder) weight(c *Catalog, p catalog.Problem) int {
	o := p.Object
	about := o.Package == b.in.Package || o.Schema == catalog.SchemaPackage && o.Name == b.in.Package
	switch {
	case p.Severity != catalog.Error || !about:
		return 0
	case o.Schema == catalog.SchemaChannel && len(b.in.Channels) > 0 && b.follows(o.Name):
		return 3
	case o.Schema == catalog.SchemaBundle && b.misses(c, o.Name), o.Schema == catalog.SchemaChannel && b.follows(o.Name):
		return 2
	}
	return 1
}

// misses tells whether a channel that is followed has an entry of that name, and no bundle for it.
func (b *builder) misses(c *Catalog, name string) bool {
	p, ok := b.packageOf(c)
	if !ok {
		return false
	}
	for _, channel := range p.Channels {
		for _, m := range channel.Missing {
			if m.Name == name && b.follows(channel.Name) {
				return true
			}
		}
	}
	return false
}
