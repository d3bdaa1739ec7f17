package catalogtest

import (
	"encoding/json"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/rollout/crd"
)

// needs are the packages that packages need, they themselves included: those that they name, and those that provide an API that they name.
func needs(c *catalog.Catalog, x *catalog.Index, packages []string) map[string]bool {
	bundles := map[string][]*catalog.BundleInfo{}
	for i := range c.Bundles {
		if info, ok := x.BundleV1(c.Bundles[i].Package, c.Bundles[i].Name); ok {
			bundles[info.Package] = append(bundles[info.Package], info)
		}
	}
	all, open := map[string]bool{}, slices.Clone(packages)
	for len(open) > 0 {
		pkg := open[0]
		if open = open[1:]; all[pkg] {
			continue
		}
		all[pkg] = true
		for _, b := range bundles[pkg] {
			apis := slices.Clone(b.Requires)
			for _, need := range b.RequiredPackages {
				open = append(open, need.PackageName)
			}
			for _, constraint := range b.Constraints {
				open, apis = constrained(constraint, open, apis)
			}
			for _, api := range apis {
				for _, provider := range x.ProvidersV1(api) {
					open = append(open, provider.Package)
				}
			}
		}
	}
	return all
}

// constrained adds the packages and APIs that an olm.constraint names, whatever it says of them.
func constrained(text json.RawMessage, packages []string, apis []catalog.GVK) ([]string, []catalog.GVK) {
	var one struct {
		PackageName string `json:"packageName"`
		catalog.GVK
	}
	if json.Unmarshal(text, &one) == nil {
		if one.PackageName != "" {
			packages = append(packages, one.PackageName)
		}
		if one.Kind != "" {
			apis = append(apis, one.GVK)
		}
	}
	var fields map[string]json.RawMessage
	var items []json.RawMessage
	if json.Unmarshal(text, &fields) == nil {
		for _, field := range fields {
			items = append(items, field)
		}
	} else {
		_ = json.Unmarshal(text, &items) // a plain value names nothing
	}
	for _, item := range items {
		packages, apis = constrained(item, packages, apis)
	}
	return packages, apis
}

// apart sorts packages into groups that have nothing to do with each other, so that they can be tested at the same time: two packages that bring the same
// cluster-wide object, or of which one needs the other, are in one group. The groups are in the order of their first packages.
func apart(c *catalog.Catalog, x *catalog.Index, all contents, packages []string) [][]string {
	owner, group := map[string]int{}, make([]int, len(packages))
	find := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	for i, pkg := range packages {
		group[i] = i
		for claim := range claims(all, needs(c, x, []string{pkg})) {
			if first, taken := owner[claim]; taken {
				a, b := find(first), find(i)
				group[max(a, b)] = min(a, b)
			}
			owner[claim] = i
		}
	}
	place, groups := map[int]int{}, [][]string{}
	for i, pkg := range packages {
		root := find(i)
		at, known := place[root]
		if !known {
			at = len(groups)
			place[root], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], pkg)
	}
	return groups
}

// claims are the packages themselves and the cluster-wide objects of their bundles.
func claims(all contents, packages map[string]bool) map[string]bool {
	claimed := map[string]bool{}
	for pkg := range packages {
		claimed["package "+pkg] = true
	}
	for key, one := range all {
		if !packages[key.pkg] || one.bundle == nil {
			continue
		}
		for _, o := range one.bundle.Objects {
			if o.GetKind() == "CustomResourceDefinition" {
				if d, err := crd.Read(o); err == nil {
					claimed["kind "+d.Spec.Group+"/"+d.Spec.Names.Plural] = true
				}
			} else if !namespaced(o) {
				claimed[o.GetKind()+" "+o.GetName()] = true
			}
		}
	}
	return claimed
}
