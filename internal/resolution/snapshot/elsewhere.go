package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxElsewhere is how many catalogs are named.
const maxElsewhere = 5

// Elsewhere says which CatalogSources other namespaces have, after a sentence that says that none is in view of a namespace; empty where there are none,
// or where the user may not list them. That they cannot be listed for another reason is said.
func Elsewhere(ctx context.Context, reader client.Reader, namespace string) string {
	var list v1alpha1.CatalogSourceList
	err := reader.List(ctx, &list)
	switch {
	case apierrors.IsForbidden(err), meta.IsNoMatchError(err), apierrors.IsNotFound(err): // a cluster without that API has none
		return ""
	case err != nil:
		return fmt.Sprintf("; whether other namespaces have CatalogSources is not known: list them: %v", err)
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
