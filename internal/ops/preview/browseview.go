package preview

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// InView reads the CatalogSources in view of the namespace, and of the global one: from the PackageManifests, which need no registry, and a
// CatalogSource that has none from where the manager reads it. A namespace that is empty, or does not exist yet, sees those of the global one.
func (c BrowseCluster) InView(ctx context.Context, global, pkg string) (Answer, error) {
	if c.Namespace == "" {
		c.Namespace = global
	}
	a, shown, failed := c.manifests(ctx, pkg)
	if failed != nil {
		a = Answer{} // the server of PackageManifests may not run: the catalogs are read instead
	}
	q := Question{Secrets: c.Reader, Dial: c.Dial}
	for _, namespace := range slices.Compact([]string{c.Namespace, global}) {
		var list v1alpha1.CatalogSourceList
		err := c.Reader.List(ctx, &list, client.InNamespace(namespace))
		switch {
		case rollout.IsUnknownKind(err):
			return a, nil
		case apierrors.IsForbidden(err) && apierrors.IsForbidden(failed) && namespace == c.Namespace && len(c.Catalogs) == 0:
			return a, fmt.Errorf("find out which packages namespace %s sees: you may read neither its PackageManifests nor its CatalogSources; choose another namespace with -n: %w", namespace, failed)
		case apierrors.IsForbidden(err):
			continue // what the user may see of it is in the PackageManifests
		case err != nil:
			return a, fmt.Errorf("list the CatalogSources of namespace %s: %w", namespace, err)
		}
		for i := range list.Items {
			source := &list.Items[i]
			name := client.ObjectKeyFromObject(source).String()
			if shown[name] || !c.wanted(name) {
				continue
			}
			a.Catalogs++
			if err := c.source(ctx, &q, source, pkg, &a); err != nil {
				a.Notes = append(a.Notes, fmt.Sprintf("CatalogSource %s cannot be read by this command, so the manager alone checks what it has: %v", name, err))
				continue
			}
			a.Read++
		}
	}
	return a, nil
}

// source reads what one CatalogSource has.
func (c BrowseCluster) source(ctx context.Context, q *Question, source *v1alpha1.CatalogSource, pkg string, a *Answer) error {
	if c.Library == nil {
		return errors.New("its packages are not served")
	}
	x, err := q.content(ctx, c.Library, source)
	if err != nil {
		return err
	}
	return errors.Join(a.add(client.ObjectKeyFromObject(source).String(), x, pkg), x.Close())
}
