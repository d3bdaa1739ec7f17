package resolution

import (
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// condition says what an operator has to be like: which nodes meet it, where to look for them, and how it reads.
type condition struct {
	meets func(*node) bool
	known func(*register) []resolve.Var // may meet it, of what is known
	find  lookup                        // may meet it, of a catalog
	text  string
	pkg   string      // the package that it asks for, if it is about one
	dear  func() dear // whether that costs too much to ask; may be nil
	never bool        // nothing meets it
}

// tooDear tells whether it is unknown who meets the condition.
func (c condition) tooDear() dear {
	if c.dear == nil {
		return dear{}
	}
	return c.dear()
}

// lookup finds, in one catalog, bundles that may meet a condition, each once.
type lookup func(*catalog.Index) []*catalog.BundleInfo

func provides(gvk catalog.GVK) condition {
	return condition{
		meets: func(n *node) bool { return n.doesProvide(gvk) },
		known: func(r *register) []resolve.Var { return r.providers[gvk] },
		find:  func(x *catalog.Index) []*catalog.BundleInfo { return x.Providers(gvk) },
		text:  "providing " + gvk.String(),
	}
}

func versionOf(p PackageRequirement) condition {
	return condition{
		meets: func(n *node) bool { return n.isVersionOf(p) },
		known: func(r *register) []resolve.Var { return r.packages[p.Package] },
		find:  func(x *catalog.Index) []*catalog.BundleInfo { return bundlesOf(x, p.Package) },
		text:  "from package " + p.Package + " with version in range " + p.Range.String(),
		pkg:   p.Package,
	}
}

// everything lists all bundles of a catalog.
func everything(x *catalog.Index) []*catalog.BundleInfo {
	var found []*catalog.BundleInfo
	for _, name := range x.PackageNames() {
		found = append(found, bundlesOf(x, name)...)
	}
	return found
}

// either is met by what meets one of the conditions.
func either(parts []condition) condition {
	return condition{
		meets: func(n *node) bool {
			return slices.ContainsFunc(parts, func(c condition) bool { return c.meets(n) })
		},
		known: func(r *register) []resolve.Var {
			var found []resolve.Var
			for _, c := range parts {
				found = append(found, c.known(r)...)
			}
			return found // a Var that is in several parts is left out again when they are sorted
		},
		find: func(x *catalog.Index) []*catalog.BundleInfo {
			var found []*catalog.BundleInfo
			seen := map[*catalog.BundleInfo]bool{}
			for _, c := range parts {
				for _, bundle := range c.find(x) {
					if !seen[bundle] {
						seen[bundle] = true
						found = append(found, bundle)
					}
				}
			}
			return found
		},
		dear: func() dear {
			for _, c := range parts {
				if d := c.tooDear(); d != (dear{}) {
					return d
				}
			}
			return dear{}
		},
	}
}
