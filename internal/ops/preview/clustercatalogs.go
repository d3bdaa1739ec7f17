package preview

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
)

// clusterCatalogs are the ClusterCatalogs among the objects, and the catalogs that are named besides.
func (q *Question) clusterCatalogs(ctx context.Context, l *Library) ([]resolution.Catalog, error) {
	objects := slices.SortedFunc(slices.Values(q.Objects.Clustered), func(a, b olmv1.ClusterCatalog) int { return cmp.Compare(a.Name, b.Name) })
	if err := twice(objects, olmv1.ClusterCatalogKind, func(c olmv1.ClusterCatalog) string { return c.Name }); err != nil {
		return nil, err
	}
	var all []resolution.Catalog
	for i := range objects {
		object := &objects[i]
		c := snapshot.ExtensionCatalog(object)
		if !c.Disabled && !slices.ContainsFunc(q.Catalogs, func(named Catalog) bool { return named.isCluster(c.Name) }) {
			x, err := (*catalog.Index)(nil), fmt.Errorf("ClusterCatalog %s names no image: set spec.source.image.ref", object.Name)
			if object.Spec.Source.Image != nil {
				x, err = l.Image(ctx, object.Spec.Source.Image.Ref, image.Auth{})
			}
			if c.Index = x; err != nil {
				c.Problem = err.Error()
			} else {
				c.Image = object.Spec.Source.Image.Ref
			}
		}
		all = append(all, c)
	}
	for _, named := range q.Catalogs {
		if named.Ref.Namespace != "" {
			continue
		}
		x, err := l.Read(ctx, named.Source)
		if err != nil {
			return nil, fmt.Errorf("read catalog %s from %s: %w", named.Ref, named.Source, err)
		}
		i := slices.IndexFunc(all, func(c resolution.Catalog) bool { return named.isCluster(c.Name) })
		if i < 0 {
			all = append(all, resolution.Catalog{Name: named.Ref.Name})
			i = len(all) - 1
		}
		all[i].Index, all[i].Image, all[i].Priority = x, named.Source, cmp.Or(named.Priority, all[i].Priority)
		if _, err := os.Stat(named.Source); err == nil {
			all[i].Image = "" // it is a directory
		}
	}
	return all, nil
}

// isCluster tells whether the ClusterCatalog of a name is meant.
func (c Catalog) isCluster(name string) bool { return c.Ref.Namespace == "" && c.Ref.Name == name }
