package prune

import (
	"fmt"
	"maps"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// keptPackage is what is kept of a package.
type keptPackage struct {
	info           *catalog.PackageInfo
	why            reasons
	stretches      []*stretch // in the order of the package: the default channel first
	channels       map[string]*stretch
	bundles        map[string]*reasons
	defaultChannel string
}

// keep finds a package of the source, which is kept from then on.
func (p *pruner) keep(name, reason string) (*keptPackage, error) {
	pkg, ok := p.kept[name]
	if !ok {
		// Refuse packages that do not exist or are broken.
		if broken := p.broken[name]; len(broken) > 0 {
			return nil, fmt.Errorf("package %s breaks the rules of catalogs; mend it first: %w", safetext.Quote(name), broken.Err())
		}
		info, ok := p.index.Package(name)
		if !ok {
			return nil, fmt.Errorf("there is no package %s; the catalog has %d packages, such as %s", safetext.Quote(name), len(p.index.PackageNames()), safetext.QuoteList(p.index.PackageNames()))
		}
		pkg = &keptPackage{info: info, channels: map[string]*stretch{}, bundles: map[string]*reasons{}, defaultChannel: info.DefaultChannel}
		for _, c := range info.Channels {
			s := newStretch(c)
			pkg.stretches = append(pkg.stretches, s)
			pkg.channels[c.Name] = s
		}
		p.kept[name] = pkg
		p.fresh = append(p.fresh, pkg)
	}
	pkg.why.add(reason)
	return pkg, nil
}

// channel is what is kept of a channel.
func (pkg *keptPackage) channel(name string) (*stretch, error) {
	if s, ok := pkg.channels[name]; ok {
		return s, nil
	}
	names := slices.Sorted(maps.Keys(pkg.channels))
	return nil, fmt.Errorf("package %s has no channel %s; it has %s", safetext.Quote(pkg.info.Name), safetext.Quote(name), safetext.QuoteList(names))
}
