package snapshot

import (
	"context"
	"fmt"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Published is where the content of catalogs is found, such as a *catalogstore.Set.
type Published interface {
	Get(catalog.Ref) (catalogstore.Entry, bool)
}

// CatalogRef is what the content of a ClusterCatalog is published under.
func CatalogRef(name string) catalog.Ref { return catalog.Ref{Name: name} }

// ListCatalogs reads the ClusterCatalogs, from a cache as a rule, and puts the content beside each that is published of it.
func ListCatalogs(ctx context.Context, reader client.Reader, published Published) ([]resolution.Catalog, error) {
	var all olmv1.ClusterCatalogList
	if err := reader.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("list the ClusterCatalogs: %w", err)
	}
	// List for those who have the objects. It shares the labels of these.
	catalogs := make([]resolution.Catalog, 0, len(all.Items))
	for i := range all.Items {
		object := &all.Items[i]
		entry, _ := published.Get(CatalogRef(object.Name))
		one := ExtensionCatalog(object)
		if !one.Disabled {
			one.Index, one.Image, one.Problem = entry.Index, entry.Image, entry.Problem
		}
		catalogs = append(catalogs, one)
	}
	return catalogs, nil
}

// CatalogDigest is that of the content that the status of a ClusterCatalog names; empty when it names none.
func CatalogDigest(object *olmv1.ClusterCatalog) string {
	resolved := object.Status.ResolvedSource
	if resolved == nil || resolved.Image == nil {
		return ""
	}
	_, digest, _ := strings.Cut(resolved.Image.Ref, "@")
	return digest
}
