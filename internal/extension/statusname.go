package extension

import (
	"cmp"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// maxName is the most that the API takes of a name, in bytes.
const maxName = 253

// StatusName is the name of a bundle as the API takes it, a DNS subdomain: catalogs may have upper-case letters and underscores in theirs, and
// the API server refuses a status that has it otherwise.
func StatusName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			return r
		}
		return '-'
	}, strings.ToLower(name))
	var labels []string
	for label := range strings.SplitSeq(name[:min(len(name), maxName)], ".") {
		if label = strings.Trim(label, "-"); label != "" {
			labels = append(labels, label)
		}
	}
	return cmp.Or(strings.Join(labels, "."), "bundle") // a name of nothing but underscores
}

// Named returns the installed bundle under the name that a catalog has for it, where it is known from a status, which may have another form of
// that name. Edges are found by the names of catalogs.
func (i Installed) Named(pkg string, catalogs []Catalog) Installed {
	found := ""
	for _, c := range catalogs {
		if c.Index == nil {
			continue
		}
		if _, ok := c.Index.BundleV1(pkg, i.Name); ok {
			return i
		}
		if found == "" {
			found = i.nameIn(c.Index, pkg)
		}
	}
	i.Name = cmp.Or(found, i.Name)
	return i
}

// nameIn is the name of the first bundle of a package that has the installed version and the installed name in a status; empty when there is none.
func (i Installed) nameIn(x *catalog.Index, pkg string) string {
	p, ok := x.PackageV1(pkg)
	if !ok {
		return ""
	}
	for _, channel := range p.Channels {
		for _, e := range channel.Entries {
			if StatusName(e.Name) == i.Name && catalog.Released(e.Bundle.Version).Compare(catalog.Released(i.Version)) == 0 {
				return e.Name
			}
		}
	}
	return ""
}
