package resolution

import (
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/version"
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
		meets: func(n *node) bool { return slices.Contains(n.bundle.Provides, gvk) },
		known: func(r *register) []resolve.Var { return r.providers[gvk] },
		find:  func(x *catalog.Index) []*catalog.BundleInfo { return x.Providers(gvk) },
		text:  "providing " + gvk.String(),
	}
}

func versionOf(pkg string, r version.Range) condition {
	return condition{
		meets: func(n *node) bool { return n.bundle.Package == pkg && r.Contains(n.bundle.Version.Version) },
		known: func(known *register) []resolve.Var { return known.packages[pkg] },
		find:  func(x *catalog.Index) []*catalog.BundleInfo { return bundlesOf(x, pkg) },
		text:  "from package " + pkg + " with version in range " + r.String(),
		pkg:   pkg,
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
