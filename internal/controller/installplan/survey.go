package installplan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// survey is the namespace of a plan that people wrote, as far as its steps depend on it.
type survey struct{ snapshot.Namespace }

func (c resolver) survey(ctx context.Context, plan *v1alpha1.InstallPlan) (*survey, error) {
	s := &survey{snapshot.Namespace{Name: plan.Namespace}}
	var operators v1alpha1.ClusterServiceVersionList
	var subscriptions v1alpha1.SubscriptionList
	var groups operatorsv1.OperatorGroupList
	for kind, list := range map[string]client.ObjectList{"ClusterServiceVersions": &operators, "Subscriptions": &subscriptions, "OperatorGroups": &groups} {
		if err := c.client.List(ctx, list, client.InNamespace(s.Name)); err != nil {
			return nil, fmt.Errorf("list the %s of namespace %s: %w", kind, s.Name, err)
		}
	}
	for i := range operators.Items {
		if !operators.Items[i].IsCopied() {
			s.Operators = append(s.Operators, operators.Items[i])
		}
	}
	for i := range subscriptions.Items { // which tell the packages of operators that do not say it themselves
		if subscriptions.Items[i].Spec != nil {
			s.Subscriptions = append(s.Subscriptions, subscriptions.Items[i])
		}
	}
	s.Groups = groups.Items
	// List the catalogs in view, in the order in which they are asked: by priority, then those of the namespace itself, then by name.
	namespaces := []string{s.Name}
	if global := c.OperatorNamespace; global != "" && global != s.Name && !s.Annotated(v1alpha1.ExcludeGlobalNamespaceAnnotation) {
		namespaces = append(namespaces, global)
	}
	for _, namespace := range namespaces {
		var list v1alpha1.CatalogSourceList
		if err := c.client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("list the CatalogSources of namespace %s: %w", namespace, err)
		}
		slices.SortFunc(list.Items, func(a, b v1alpha1.CatalogSource) int {
			return catalog.Ref{Name: a.Name}.Compare(catalog.Ref{Name: b.Name})
		})
		for _, object := range list.Items {
			served, _ := c.Catalogs.Get(catalog.Ref{Namespace: object.Namespace, Name: object.Name})
			s.Sources = append(s.Sources, snapshot.Source{Object: object, Served: served})
		}
	}
	slices.SortStableFunc(s.Sources, func(a, b snapshot.Source) int { return b.Object.Spec.Priority - a.Object.Spec.Priority })
	return s, nil
}

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
	var refs []string
	for i := range s.Sources {
		source := &s.Sources[i]
		ref := source.Ref()
		if spec.CatalogSource != "" && spec.CatalogSource != ref.Name || spec.CatalogSourceNamespace != "" && spec.CatalogSourceNamespace != ref.Namespace {
			continue
		}
		if source.Served.Index == nil && found.installed == nil {
			return found, fmt.Sprintf("ClusterServiceVersion %s is looked for in catalog %s, which has no content: %s; repair or delete that CatalogSource, or name another catalog in spec.source and spec.sourceNamespace",
				name, ref, cmp.Or(source.Served.Problem, "it is still being loaded"))
		}
		if found.bundle = bundleNamed(source.Served.Index, name); found.bundle != nil {
			found.source = source
			return found, ""
		}
		refs = append(refs, ref.String())
	}
	switch {
	case found.installed != nil:
		return found, ""
	case len(refs) == 0 && spec.CatalogSource != "":
		return found, fmt.Sprintf("spec.source names CatalogSource %s, of which there is none in view of the namespace: correct spec.source and spec.sourceNamespace, or create it",
			strings.TrimPrefix(spec.CatalogSourceNamespace+"/"+spec.CatalogSource, "/"))
	case len(refs) == 0:
		return found, "no CatalogSource is in view of the namespace: create one, in this namespace or in that of global catalogs"
	}
	return found, fmt.Sprintf("no catalog has ClusterServiceVersion %s; asked were %s: correct spec.clusterServiceVersionNames (fairlead catalog list shows what there is), or create a CatalogSource that has it",
		name, list(refs))
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
