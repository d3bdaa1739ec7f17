package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxElsewhere is how many catalogs are named.
const maxElsewhere = 5

// Elsewhere says which CatalogSources other namespaces have, after a sentence that says that none is in view of a namespace; empty where there are none,
// or where the user may not list them.
func Elsewhere(ctx context.Context, reader client.Reader, namespace string) string {
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
	return fmt.Sprintf("; other namespaces have CatalogSource %s, which only they see: -n %s", safetext.List(all, maxElsewhere, ", "), first)
}
