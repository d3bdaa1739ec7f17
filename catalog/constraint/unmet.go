package constraint

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// RuleUnmet is broken by a need that nothing in the catalog meets. A cluster may have it from elsewhere.
const RuleUnmet catalog.Rule = "bundle-need-unmet"

// maxMentioned is how many bundles with the same need a finding names.
const maxMentioned = 3

// Unmet reports the needs of bundles that nothing in the catalog meets, the same need of the bundles of a package once, by package and need. A need for
// the absence of something is met. What cannot be read is reported by Review. c is what x was made of: it has the places.
func Unmet(c *catalog.Catalog, x *catalog.Index) catalog.Problems {
	u := &unmet{index: x, met: map[string]bool{}, found: map[[2]string][]*catalog.Bundle{}}
	for i := range c.Bundles {
		b := &c.Bundles[i]
		info, ok := x.Bundle(b.Package, b.Name)
		if !ok {
			if info, ok = x.BundleV1(b.Package, b.Name); !ok {
				continue // it is not served, which is reported elsewhere
			}
		}
		u.bundle(b, info)
	}
	var all catalog.Problems
	keys := make([][2]string, 0, len(u.found))
	for key := range u.found {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, key := range keys {
		bundles := u.found[key]
		names := make([]string, len(bundles))
		for i, b := range bundles {
			names[i] = b.Name
		}
		all = append(all, catalog.Problem{Severity: catalog.Warning, Rule: RuleUnmet, Position: bundles[0].Position,
			Object:  catalog.Object{Schema: catalog.SchemaBundle, Package: key[0], Name: names[0]},
			Message: fmt.Sprintf("nothing in the catalog is %s, which it needs%s", key[1], others(names[1:])),
			Fix:     "add it to the catalog, correct the need, or tell users which other catalog has it"})
	}
	return all
}

func others(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", as do " + safetext.List(names, maxMentioned, ", ")
}

// unmet looks for the needs of bundles in a catalog.
type unmet struct {
	index *catalog.Index
	met   map[string]bool // by the text of a need
	found map[[2]string][]*catalog.Bundle
}

// bundle looks for what one bundle needs.
func (u *unmet) bundle(b *catalog.Bundle, info *catalog.BundleInfo) {
	needs := make([]Constraint, 0, len(info.RequiredPackages)+len(info.Requires)+len(info.Constraints))
	for _, r := range info.RequiredPackages {
		needs = append(needs, Constraint{Package: &Package{Name: r.PackageName, Range: r.Range}})
	}
	for i := range info.Requires {
		needs = append(needs, Constraint{GVK: &info.Requires[i]})
	}
	for _, raw := range info.Constraints {
		if c, err := Parse(raw); err == nil {
			needs = append(needs, *c)
		}
	}
	for _, need := range needs {
		for _, part := range u.missing(need) {
			key := [2]string{b.Package, part}
			if !slices.Contains(u.found[key], b) {
				u.found[key] = append(u.found[key], b)
			}
		}
	}
}

// missing are the parts of a need that nothing meets, as texts that follow "nothing is".
func (u *unmet) missing(c Constraint) []string {
	switch {
	case c.All != nil:
		var all []string
		for _, part := range c.All {
			all = append(all, u.missing(part)...)
		}
		return all
	case c.Any != nil:
		var all []string
		for _, part := range c.Any {
			missing := u.missing(part)
			if len(missing) == 0 {
				return nil
			}
			all = append(all, strings.Join(missing, " and "))
		}
		if len(all) == 0 {
			return []string{"one of no constraints"}
		}
		return []string{strings.Join(all, ", or ")}
	case c.Not != nil:
		return nil
	}
	text := textOf(c)
	met, known := u.met[text]
	if !known {
		met = u.leaf(c)
		u.met[text] = met
	}
	if met {
		return nil
	}
	return []string{text}
}

func textOf(c Constraint) string {
	switch {
	case c.Package != nil:
		return fmt.Sprintf("package %s in range %s", safetext.Quote(c.Package.Name), safetext.Quote(c.Package.Range.String()))
	case c.GVK != nil:
		return fmt.Sprintf("a provider of API %s", safetext.Line(c.GVK.String(), 200))
	}
	return "what its rule in CEL asks for: " + safetext.Line(c.CEL.Text, 200)
}

// leaf reports whether something in the catalog meets a constraint without parts.
func (u *unmet) leaf(c Constraint) bool {
	switch {
	case c.GVK != nil:
		return len(u.index.Providers(*c.GVK)) > 0 || len(u.index.ProvidersV1(*c.GVK)) > 0
	case c.Package != nil:
		return u.any(c.Package.Name, func(b *catalog.BundleInfo) bool { return c.Package.Range.Contains(b.Version.Version) })
	}
	for _, name := range u.index.PackageNamesV1() {
		if u.any(name, func(b *catalog.BundleInfo) bool { return c.CEL.Meets(b.Properties) }) {
			return true
		}
	}
	return false
}

// any reports whether one of the bundles of a package is as asked.
func (u *unmet) any(pkg string, is func(*catalog.BundleInfo) bool) bool {
	p, ok := u.index.PackageV1(pkg) // which has what v0 has, and more
	if !ok {
		return false
	}
	for _, channel := range p.Channels {
		for _, e := range channel.Entries {
			if is(e.Bundle) {
				return true
			}
		}
	}
	return false
}
