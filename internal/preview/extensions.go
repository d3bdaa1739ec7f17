package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/extension"
	"fairlead.dev/fairlead/internal/image"
)

// extensions decides on each ClusterExtension among the objects; what the others have installed counts.
func (q *Question) extensions(ctx context.Context, l *Library) ([]*ExtensionResolution, error) {
	objects := slices.Clone(q.Objects.Extensions)
	if len(objects) == 0 {
		return nil, nil
	}
	slices.SortFunc(objects, func(a, b olmv1.ClusterExtension) int { return cmp.Compare(a.Name, b.Name) })
	if err := twice(objects, olmv1.ClusterExtensionKind, func(e olmv1.ClusterExtension) string { return e.Name }); err != nil {
		return nil, err
	}
	catalogs, err := q.clusterCatalogs(ctx, l)
	if err != nil {
		return nil, err
	}
	var requests []extension.Request
	for i := range objects {
		in, err := request(&objects[i])
		if err != nil {
			return nil, fmt.Errorf("look at ClusterExtension %s: %w", objects[i].Name, err)
		}
		in.Catalogs = catalogs
		if in.Installed != nil {
			in.Installed.Properties = properties(catalogs, in.Package, in.Installed)
		}
		requests = append(requests, in)
	}
	var all []*ExtensionResolution
	for i, in := range requests {
		for j, other := range requests {
			if i != j && other.Installed != nil {
				in.Others = append(in.Others, extension.Extension{Name: other.Name, Package: other.Package, Installed: *other.Installed})
			}
		}
		r, err := resolveExtension(ctx, in)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// properties are those of an installed bundle, as far as a catalog has a bundle of that name and version: its objects do not tell them.
func properties(catalogs []extension.Catalog, pkg string, i *extension.Installed) []catalog.Property {
	for _, c := range catalogs {
		if c.Index == nil {
			continue
		}
		if b, ok := c.Index.Bundle(pkg, i.Name); ok && b.Version.String() == i.Version.String() {
			return b.Properties
		}
	}
	return nil
}

// request is what a ClusterExtension asks for and has, but for the catalogs.
func request(e *olmv1.ClusterExtension) (extension.Request, error) {
	filter := e.Spec.Source.Catalog
	if filter == nil {
		return extension.Request{}, errors.New("it has no spec.source.catalog; say there which package it asks for")
	}
	in := extension.Request{Name: e.Name, Package: filter.PackageName, Version: filter.Version, Channels: filter.Channels,
		Selector: filter.Selector, Policy: extension.Policy(cmp.Or(string(filter.UpgradeConstraintPolicy), string(extension.CatalogProvided)))}
	if e.Status.Install != nil {
		b := e.Status.Install.Bundle
		installed, err := extension.ParseInstalled(b.Name, b.Version, b.Release)
		if err != nil {
			return in, fmt.Errorf("status.install.bundle: %w", err)
		}
		in.Installed = &installed
	}
	return in, nil
}

// clusterCatalogs are the ClusterCatalogs among the objects, and the catalogs that are named besides.
func (q *Question) clusterCatalogs(ctx context.Context, l *Library) ([]extension.Catalog, error) {
	var all []extension.Catalog
	for i := range q.Objects.Clustered {
		object := &q.Objects.Clustered[i]
		c := extension.Catalog{Name: object.Name, Labels: object.Labels, Priority: int(object.Spec.Priority), Disabled: object.Spec.AvailabilityMode == olmv1.AvailabilityModeUnavailable}
		if !c.Disabled && !slices.ContainsFunc(q.Catalogs, func(named Catalog) bool { return named.isCluster(c.Name) }) {
			x, err := clusterContent(ctx, l, object)
			if c.Index = x; err != nil {
				c.Problem = err.Error()
			}
		}
		all = append(all, c)
	}
	for _, named := range q.Catalogs {
		if named.Ref.Namespace != "" {
			continue
		}
		x, err := l.read(ctx, named.Source)
		if err != nil {
			return nil, fmt.Errorf("read catalog %s from %s: %w", named.Ref, named.Source, err)
		}
		i := slices.IndexFunc(all, func(c extension.Catalog) bool { return named.isCluster(c.Name) })
		if i < 0 {
			all = append(all, extension.Catalog{Name: named.Ref.Name})
			i = len(all) - 1
		}
		all[i].Index, all[i].Priority = x, cmp.Or(named.Priority, all[i].Priority)
	}
	return all, nil
}

// isCluster tells whether the ClusterCatalog of a name is meant.
func (c Catalog) isCluster(name string) bool { return c.Ref.Namespace == "" && c.Ref.Name == name }

func clusterContent(ctx context.Context, l *Library, object *olmv1.ClusterCatalog) (*catalog.Index, error) {
	if object.Spec.Source.Image == nil {
		return nil, fmt.Errorf("ClusterCatalog %s names no image: set spec.source.image.ref", object.Name)
	}
	return l.image(ctx, object.Spec.Source.Image.Ref, image.Auth{})
}
