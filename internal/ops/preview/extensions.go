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

// requests are what the ClusterExtensions of a question ask for and have, by name, and the catalogs that they are decided with.
type requests struct {
	all      []resolution.ExtensionRequest
	catalogs []resolution.Catalog
	notes    map[string]string
}

// requests reads the ClusterExtensions among the objects, but for those that are being deleted, and their catalogs.
func (q *Question) requests(ctx context.Context, l *Library) (requests, error) {
	var r requests
	objects := slices.DeleteFunc(slices.Clone(q.Objects.Extensions), func(e olmv1.ClusterExtension) bool { return !e.DeletionTimestamp.IsZero() })
	slices.SortFunc(objects, func(a, b olmv1.ClusterExtension) int { return cmp.Compare(a.Name, b.Name) })
	err := twice(objects, olmv1.ClusterExtensionKind, func(e olmv1.ClusterExtension) string { return e.Name })
	if err != nil {
		return r, err
	}
	if r.catalogs, err = q.clusterCatalogs(ctx, l); err != nil {
		return r, err
	}
	for i := range objects {
		in, err := snapshot.ExtensionRequest(&objects[i])
		if err != nil {
			return r, fmt.Errorf("read ClusterExtension %s: %w", objects[i].Name, err)
		}
		in.Catalogs, in.Kubernetes = r.catalogs, q.Kubernetes
		if install := objects[i].Status.Install; install != nil {
			installed, err := resolution.ParseInstalled(install.Bundle.Name, install.Bundle.Version, install.Bundle.Release)
			if err != nil {
				return r, fmt.Errorf("read ClusterExtension %s: status.install.bundle: %w", objects[i].Name, err)
			}
			installed = installed.Named(in.Package, r.catalogs)
			// Its objects do not tell its properties: they are those of the bundle of that name and version in a catalog, if there is one.
			for _, c := range r.catalogs {
				if c.Index == nil {
					continue
				}
				if b, ok := c.Index.BundleV1(in.Package, installed.Name); ok && catalog.Released(b.Version).Compare(catalog.Released(installed.Version)) == 0 {
					installed.Properties = b.Properties
					break
				}
			}
			in.Installed = &installed
		}
		if in, err = r.fromImage(in, &objects[i], q.Images[in.Name]); err != nil {
			return r, fmt.Errorf("read ClusterExtension %s: %w", objects[i].Name, err)
		}
		r.all = append(r.all, in)
	}
	return r, nil
}

// fromImage narrows the request of an extension that names an image of its own, as far as that was read.
func (r *requests) fromImage(in resolution.ExtensionRequest, e *olmv1.ClusterExtension, x *catalog.Index) (resolution.ExtensionRequest, error) {
	ref, err := snapshot.BundleImage(e)
	if err == nil && ref == "" {
		return in, nil
	}
	if x != nil {
		return snapshot.NarrowToImage(in, x, ref)
	}
	if r.notes == nil {
		r.notes = map[string]string{}
	}
	if err != nil {
		r.notes[e.Name] = err.Error()
		return in, nil
	}
	r.notes[e.Name] = fmt.Sprintf("image %s is installed whatever catalogs have, as annotation %s asks for; this is what they would have", ref, snapshot.BundleImageKey)
	return in, nil
}

// resolve decides on one of the requests; what the others have installed counts.
func (r *requests) resolve(ctx context.Context, in resolution.ExtensionRequest) (*ExtensionResolution, error) {
	out, err := resolveExtension(ctx, beside(in, r.all))
	if err == nil && r.notes[in.Name] != "" {
		out.Notes = append(out.Notes, r.notes[in.Name])
	}
	return out, err
}

// beside is a request that knows what the other extensions have installed.
func beside(in resolution.ExtensionRequest, all []resolution.ExtensionRequest) resolution.ExtensionRequest {
	for _, other := range all {
		if other.Name != in.Name && other.Installed != nil {
			in.Others = append(in.Others, resolution.InstalledExtension{Name: other.Name, Package: other.Package, Installed: *other.Installed})
		}
	}
	return in
}

// extensions decides on each ClusterExtension among the objects; what the others have installed counts.
func (q *Question) extensions(ctx context.Context, l *Library) ([]*ExtensionResolution, error) {
	if len(q.Objects.Extensions) == 0 {
		return nil, nil
	}
	requests, err := q.requests(ctx, l)
	if err != nil {
		return nil, err
	}
	var all []*ExtensionResolution
	for _, in := range requests.all {
		r, err := requests.resolve(ctx, in)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Named decides on one of the ClusterExtensions of the question, as its object says.
func (q *Question) Named(ctx context.Context, l *Library, name string) (*ExtensionResolution, error) {
	requests, err := q.requests(ctx, l)
	if err != nil {
		return nil, err
	}
	for _, in := range requests.all {
		if in.Name == name {
			return requests.resolve(ctx, in)
		}
	}
	return nil, fmt.Errorf("decide on ClusterExtension %s: there is none of that name, or it is being deleted", name)
}

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
			if has := q.heldNamed(ctx, l, object); has != nil && object.Spec.Source.Image != nil {
				x, err = has, nil
			} else if object.Spec.Source.Image != nil {
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
		x, err := l.read(ctx, named)
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
