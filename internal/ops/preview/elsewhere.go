package preview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// elsewhere says which CatalogSources other namespaces have, after a sentence that says that none is in view of a namespace; empty where there are none,
// or where the user may not list them.
func elsewhere(ctx context.Context, reader client.Reader, namespace string) string {
	var list v1alpha1.CatalogSourceList
	if reader.List(ctx, &list) != nil {
		return ""
	}
	var all []string
	for i := range list.Items {
		if s := &list.Items[i]; s.Namespace != namespace {
			all = append(all, s.Namespace+"/"+s.Name)
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	first, _, _ := strings.Cut(all[0], "/")
	return fmt.Sprintf("; other namespaces have CatalogSource %s, which only they see: -n %s", messages.Clean(safetext.List(all, maxShown, ", ")), first)
}

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
