package extension

import (
	"slices"

	"fairlead.dev/fairlead/internal/constraint"
)

// Missing is something that another ClusterExtension would have to install before a bundle can be had.
type Missing struct {
	// Packages are those of the selected catalogs that have it; each of them does.
	Packages []string
	// Version is the range that is asked for; empty means any version.
	Version string
}

// missing is what the most wanted candidate lacks, of those that lack nothing else; none where catalogs cannot help with a part of it.
func (b *builder) missing() []Missing {
	for _, c := range b.candidates {
		if len(c.refusals) == 0 {
			return nil
		}
		var all []Missing
		for _, r := range c.refusals {
			if r.rule != ruleNeed || r.lacks == nil {
				all = nil
				break
			}
			all = append(all, r.lacks...)
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// lacks is what would have to be installed to meet a constraint; nil when nobody has that.
func (b *builder) lacks(c constraint.Constraint, own string) []Missing {
	switch {
	case b.holds(c, b.besides(own)):
		return []Missing{}
	case c.All != nil:
		all := []Missing{}
		for _, part := range c.All {
			more := b.lacks(part, own)
			if more == nil {
				return nil
			}
			all = append(all, more...)
		}
		return all
	case c.Any != nil:
		for _, part := range c.Any {
			if some := b.lacks(part, own); some != nil {
				return some
			}
		}
		return nil
	}
	packages := b.providers(c)
	if len(packages) == 0 {
		return nil
	}
	one := Missing{Packages: packages}
	if c.Package != nil {
		one.Version = c.Package.Range.String()
	}
	return []Missing{one}
}

// providers are the packages of the selected catalogs that have what a constraint without parts asks for.
func (b *builder) providers(c constraint.Constraint) []string {
	var packages []string
	for _, source := range b.catalogs {
		if source.Index != nil {
			packages = append(packages, providersOf(c, source.Index)...)
		}
	}
	slices.Sort(packages)
	return slices.DeleteFunc(slices.Compact(packages), func(pkg string) bool { return pkg == b.in.Package })
}
