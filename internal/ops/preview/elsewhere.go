package preview

import (
	"slices"
)

// names are those of all packages in view, and of the Subscriptions.
func names(p *Preview) []string {
	var all []string
	for _, s := range p.observed.Sources {
		if s.Healthy() {
			all = append(all, s.Served.Index.PackageNames()...)
		}
	}
	for _, sub := range p.input.Subscriptions {
		all = append(all, sub.Name)
	}
	slices.Sort(all)
	return all
}

// Names are those of packages.
func Names(packages []*Package) []string {
	all := make([]string, len(packages))
	for i, p := range packages {
		all[i] = p.Name
	}
	return all
}
