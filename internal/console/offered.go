package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// viewpoint is the namespace whose packages are looked through: the one that is chosen, but for a catalog that this one does not see.
func (c *storefront) viewpoint(ctx context.Context, q *query, catalog string) string {
	chosen := cmp.Or(q.namespace(ctx), q.user.Namespace)
	if preview.Check("namespace", chosen) != nil { // which the form says
		chosen = q.user.Namespace
	}
	namespace, _, v0 := strings.Cut(catalog, "/")
	if v0 && namespace != "" && namespace != c.GlobalNamespace {
		return namespace
	}
	return chosen
}

// offering are all catalogs that have a package, and the one that is meant: the one of the name, or the first.
func (c *storefront) offering(ctx context.Context, q *query, name, catalog string) (all []*preview.Package, one *preview.Package, err error) {
	namespace := c.viewpoint(ctx, q, catalog)
	answer, reading, err := c.shelf.offers(ctx, q.user, namespace, q.whole || q.sent) // what a form has sent is not sent again
	if err == nil && reading {
		err = errReading
	}
	if err != nil {
		return nil, nil, err
	}
	all = preview.About(answer.Packages, name).Catalogs
	if len(all) == 0 {
		return nil, nil, &statusError{http.StatusNotFound, fmt.Sprintf("No catalog in view of namespace %s has a package %s%s", namespace, messages.Clean(name), messages.DidYouMean(name, preview.Names(answer.Packages))),
			"search the catalog, or choose a namespace whose catalogs have it"}
	}
	if catalog == "" {
		return all, all[0], nil
	}
	at := slices.IndexFunc(all, func(p *preview.Package) bool { return p.Catalog == catalog })
	if at < 0 {
		var names []string
		for _, p := range all {
			names = append(names, p.Catalog)
		}
		return nil, nil, &statusError{http.StatusNotFound, fmt.Sprintf("Catalog %s has no package %s in view of namespace %s", messages.Clean(catalog), messages.Clean(name), namespace), "choose another catalog: " + strings.Join(names, ", ")}
	}
	return all, all[at], nil
}

// placed is where a package goes: to the namespace that is chosen, else to the one that it suggests, else to the usual one; from a CatalogSource that
// is not for all namespaces to that of the catalog.
func (c *storefront) placed(ctx context.Context, q *query, p *preview.Package) string {
	namespace, _, v0 := strings.Cut(p.Catalog, "/")
	switch {
	case q.get(namespaceKey) != "":
		return q.get(namespaceKey)
	case v0 && namespace != c.GlobalNamespace:
		return namespace
	case p.SuggestedNamespace != "":
		return p.SuggestedNamespace
	}
	return cmp.Or(q.namespace(ctx), usualNamespace)
}
