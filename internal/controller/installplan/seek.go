package installplan

import (
	"cmp"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
)

// sought is a ClusterServiceVersion that a plan names, and where it was found.
type sought struct {
	name      string
	source    *snapshot.Source
	bundle    *catalog.BundleInfo
	installed *v1alpha1.ClusterServiceVersion // of that name
}

// seek finds a ClusterServiceVersion by its name in the catalogs that the spec of a plan allows, or says why it cannot be found. One
// that is installed need not be in any catalog. A catalog without content hides those after it: what it would have offered comes first.
func (s *survey) seek(name string, spec *v1alpha1.InstallPlanSpec) (found sought, problem string) {
	found = sought{name: name, installed: s.Operator(name)}
	asked := s.allowed(spec)
	var refs []string
	for _, source := range asked {
		if source.Served.Index == nil && found.installed == nil {
			return found, fmt.Sprintf("ClusterServiceVersion %s is looked for in catalog %s, which has no content: %s; repair or delete that CatalogSource, or name another catalog in spec.source and spec.sourceNamespace",
				name, source.Ref(), cmp.Or(source.Served.Problem, "it is still being loaded"))
		}
		if found.bundle = bundleNamed(source.Served.Index, name); found.bundle != nil {
			found.source = source
			return found, ""
		}
		refs = append(refs, source.Ref().String())
	}
	if found.installed != nil {
		return found, ""
	}
	return found, unknown(name, spec, refs)
}

// unknown says that no catalog has a name, and what to do.
func unknown(name string, spec *v1alpha1.InstallPlanSpec, asked []string) string {
	switch {
	case len(asked) == 0 && spec.CatalogSource != "":
		return fmt.Sprintf("spec.source names CatalogSource %s, of which there is none in view of the namespace: correct spec.source and spec.sourceNamespace, or create it",
			strings.TrimPrefix(spec.CatalogSourceNamespace+"/"+spec.CatalogSource, "/"))
	case len(asked) == 0:
		return "no CatalogSource is in view of the namespace: create one, in this namespace or in that of global catalogs"
	}
	return fmt.Sprintf("no catalog has ClusterServiceVersion %s; asked were %s: correct spec.clusterServiceVersionNames (fairlead catalog list shows what there is), or create a CatalogSource that has it",
		name, list(asked))
}

// allowed are the catalogs in view that the spec of a plan lets be asked.
func (s *survey) allowed(spec *v1alpha1.InstallPlanSpec) []*snapshot.Source {
	var found []*snapshot.Source
	for i := range s.Sources {
		ref := s.Sources[i].Ref()
		byName := spec.CatalogSource == "" || spec.CatalogSource == ref.Name
		if byName && (spec.CatalogSourceNamespace == "" || spec.CatalogSourceNamespace == ref.Namespace) {
			found = append(found, &s.Sources[i])
		}
	}
	return found
}

// bundleNamed finds a bundle by its name alone; of several packages that have one of that name, the first counts.
func bundleNamed(x *catalog.Index, name string) *catalog.BundleInfo {
	if x == nil {
		return nil
	}
	for _, pkg := range x.PackageNames() {
		if b, ok := x.Bundle(pkg, name); ok {
			return b
		}
	}
	return nil
}

// bundleOf returns the bundle of a lookup in a catalog: that of its package, where the lookup has that.
func bundleOf(x *catalog.Index, lookup v1alpha1.BundleLookup) *catalog.BundleInfo {
	pkg := resolution.LookupPackage(lookup)
	if x == nil || pkg == "" {
		return bundleNamed(x, lookup.Identifier)
	}
	b, _ := x.Bundle(pkg, lookup.Identifier)
	return b
}
