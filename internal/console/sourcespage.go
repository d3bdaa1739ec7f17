package console

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"

	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// sources are the pages of the catalogs of the cluster.
type sources struct{ *Console }

// sourcesPage is the catalogs of the cluster, of both APIs.
type sourcesPage struct {
	ops.CatalogListing
	// AddV0 and AddV1 are the rights to create one, Namespace is where a CatalogSource would be.
	AddV0     Right  `json:"addV0"`
	AddV1     Right  `json:"addV1"`
	Namespace string `json:"namespace"`
}

// sourcePage is one catalog.
type sourcePage struct {
	Catalog ops.InstalledCatalog `json:"catalog"`
	// Image is what can be changed; empty where the catalog is read from something else.
	Image string `json:"image,omitempty"`
	// Content is what it has; nil while Reading is true, and where Problem is why that is not known.
	Content *preview.CatalogContent `json:"content,omitempty"`
	Reading bool                    `json:"reading,omitempty"`
	Problem string                  `json:"problem,omitempty"`
	// Dependents use it, as far as the user may see.
	Dependents []ops.CatalogDependent `json:"dependents"`
	Notes      []string               `json:"notes,omitempty"`
	// Removing is true where the page asks whether the catalog is to be removed, which a form with Mark then does.
	Removing bool   `json:"-"`
	Mark     string `json:"mark"`
	Change   Right  `json:"change"`
	Remove   Right  `json:"remove"`
}

// sourceAddress is that of the page of a catalog.
func sourceAddress(c ops.InstalledCatalog) string {
	if c.Namespace == "" {
		return "/source/v1/" + c.Name
	}
	return "/source/v0/" + c.Namespace + "/" + c.Name
}

func (c sources) all(ctx context.Context, q *query) (any, error) {
	namespace := q.namespace(ctx)
	listing, err := ops.ListCatalogs(ctx, q.user.client, namespace)
	if err != nil {
		return nil, err
	}
	p := &sourcesPage{CatalogListing: listing, Namespace: namespace}
	if p.Namespace == "" {
		p.Namespace = c.GlobalNamespace
	}
	rights := rightsOf(ctx, q.user)
	p.AddV0, p.AddV1 = rights("create", "catalogsources", p.Namespace), rights("create", "clustercatalogs", "")
	return p, nil
}

// found is the catalog that an address or a form names.
func found(ctx context.Context, q *query) (*ops.CatalogRemoval, client.Object, error) {
	key, api := client.ObjectKey{Namespace: q.path("namespace"), Name: q.path("name")}, "v0"
	var object client.Object = &v1alpha1.CatalogSource{}
	if key.Namespace == "" {
		api, object = "v1", &olmv1.ClusterCatalog{}
	}
	if err := q.user.client.Get(ctx, key, object); err != nil {
		return nil, nil, fmt.Errorf("read the catalog %s: %w", strings.TrimPrefix(key.String(), "/"), err)
	}
	is, err := ops.FindCatalog(ctx, q.user.client, api, key)
	return is, object, err
}

func (c sources) one(ctx context.Context, q *query) (any, error) {
	is, object, err := found(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := is.ReadDependents(ctx, q.user.client); err != nil {
		is.Notes = append(is.Notes, "what uses it is not known: "+explain(err).text)
	}
	p := &sourcePage{Catalog: is.Catalog, Image: imageOf(object), Dependents: is.Dependents, Notes: is.Notes, Removing: q.values.Has("remove"), Mark: is.Mark()}
	resource := "catalogsources"
	if is.Catalog.API == "v1" {
		resource = "clustercatalogs"
	}
	rights := rightsOf(ctx, q.user)
	p.Change, p.Remove = rights("patch", resource, is.Catalog.Namespace), rights("delete", resource, is.Catalog.Namespace)
	key := strings.Join([]string{is.Catalog.Describe(), is.Mark(), is.Catalog.Source, is.Catalog.Digest}, " ")
	p.Content, p.Reading, err = c.contents.get(ctx, asked{q.user, key}, q.whole, q.user, func(ctx context.Context) (*preview.CatalogContent, error) {
		return c.Library.Content(ctx, q.user.client, q.user.dial(), object)
	})
	if err != nil {
		p.Problem = explain(err).text
	}
	return p, nil
}

// imageOf is the image that a catalog is read from; empty where it is read from something else.
func imageOf(object client.Object) string {
	switch o := object.(type) {
	case *v1alpha1.CatalogSource:
		return o.Spec.Image
	case *olmv1.ClusterCatalog:
		if o.Spec.Source.Image != nil {
			return o.Spec.Source.Image.Ref
		}
	}
	return ""
}

func (c sources) part() part {
	p := part{views: []view{{path: "/sources", template: "sources", title: "Catalog sources", load: c.all}}, actions: []action{{path: "/sources/add", do: c.addSource}}}
	for _, at := range []string{"/source/v0/{namespace}/{name}", "/source/v1/{name}"} {
		p.views = append(p.views, view{path: at, template: "source", title: "Catalog source", load: c.one}, view{path: at + "/update", template: "update", title: "What an update would change", load: c.update})
		p.actions = append(p.actions, action{path: at + "/change", do: c.changeSource}, action{path: at + "/remove", do: c.removeSource})
	}
	return p
}

// shortInterval is an interval as people write it: 15m rather than 15m0s.
func shortInterval(interval string) string {
	d, err := time.ParseDuration(interval)
	if err != nil {
		return interval
	}
	return duration.HumanDuration(d)
}

// wholeMinutes are an interval as a form has it.
func wholeMinutes(interval string) string {
	d, err := time.ParseDuration(interval)
	if err != nil {
		return "0"
	}
	return strconv.Itoa(int(d / time.Minute))
}
