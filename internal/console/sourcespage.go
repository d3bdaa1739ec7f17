package console

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"

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
	p.Content, p.Reading, err = c.contents.get(ctx, asked{q.user, key}, q.whole, q.user.changed, func(ctx context.Context) (*preview.CatalogContent, error) {
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

// refused is the answer to a form with a value that cannot be meant.
func refused(format string, args ...any) error {
	return &statusError{http.StatusBadRequest, fmt.Sprintf(format, args...), "go back, correct the form, and send it once more"}
}

// number is a whole number of a form; what is not given is what is said instead.
func (q *query) number(name string, otherwise int) (int, error) {
	text := q.get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, refused("The %s cannot be %q: it is a whole number", name, text[:min(len(text), maxAsked)])
	}
	return n, nil
}

// minutes is an interval of a form. An image by its digest has none, and a tag that of the command line where none is given.
func (q *query) minutes(image string) (time.Duration, error) {
	standard := int(ops.DefaultPoll / time.Minute)
	if strings.Contains(image, "@") {
		standard = 0
	}
	n, err := q.number("poll", standard)
	if err == nil && n > int(maxPoll/time.Minute) {
		err = refused("The poll interval cannot be %d minutes: it has %d at most", n, int(maxPoll/time.Minute))
	}
	return time.Duration(n) * time.Minute, err
}

// maxPoll is a year: a longer interval is a mistake.
const maxPoll = 365 * 24 * time.Hour

// image is an image of a form.
func (q *query) image() (string, error) {
	image := q.get("image")
	if image == "" || len(image) > maxAsked || strings.ContainsAny(image, " \t\n") {
		return "", refused("The image cannot be %q: write its reference, with the host of its registry", image[:min(len(image), maxAsked)])
	}
	return image, nil
}

func (c sources) addSource(ctx context.Context, q *query) (done, error) {
	o := ops.CatalogOptions{Name: q.get("name"), Secrets: lists(q.values["secrets"])}
	if q.get("api") != "v1" {
		o.Namespace = q.get(namespaceKey)
		if err := preview.Check("namespace", o.Namespace); err != nil {
			return done{}, refused("The namespace of the CatalogSource is not one: %v", err)
		}
	}
	err := preview.Check("catalog", o.Name)
	if err != nil {
		return done{}, refused("The catalog cannot be called so: %v", err)
	}
	if o.Image, err = q.image(); err != nil {
		return done{}, err
	}
	if o.Priority, err = q.number("priority", 0); err != nil {
		return done{}, err
	}
	if o.Poll, err = q.minutes(o.Image); err != nil {
		return done{}, err
	}
	if err := o.Check(); err != nil {
		return done{}, refused("The catalog cannot be added: %v", err)
	}
	is, created, err := ops.AddCatalog(ctx, q.user.client, o)
	if err != nil {
		return done{}, err
	}
	notice := is.Describe() + " has that image already: nothing was changed."
	if created {
		notice = "Created " + is.Describe() + ". The manager reads its image now; this page shows how it is."
	}
	return done{Notice: notice, To: sourceAddress(is)}, nil
}

func (c sources) changeSource(ctx context.Context, q *query) (done, error) {
	is, object, err := found(ctx, q)
	if err != nil {
		return done{}, err
	}
	if q.get("mark") != is.Mark() {
		return done{}, changed(&ops.MeantError{Object: is.Catalog.Describe()})
	}
	var change ops.CatalogChange
	if imageOf(object) != "" {
		image, err := q.image()
		if err != nil {
			return done{}, err
		}
		poll, err := q.minutes(image)
		if err != nil {
			return done{}, err
		}
		change.Image = &image
		if now, _ := time.ParseDuration(is.Catalog.Poll); q.get("poll") != "" && int(poll/time.Minute) != int(now/time.Minute) { // the form has whole minutes
			change.Poll = &poll
		}
	}
	priority, err := q.number("priority", is.Catalog.Priority)
	if err != nil {
		return done{}, err
	}
	change.Priority = &priority
	if is.Catalog.API == "v1" {
		availability := q.get("availability")
		change.Availability = &availability
	} else if secrets := lists(q.values["secrets"]); q.values.Has("secrets") {
		change.Secrets = &secrets
	}
	_, said, err := ops.ChangeCatalog(ctx, q.user.client, client.ObjectKeyFromObject(object), change)
	if err != nil {
		return done{}, err
	}
	if len(said) == 0 {
		return done{Notice: is.Catalog.Describe() + " is so already: nothing was changed.", To: sourceAddress(is.Catalog)}, nil
	}
	return done{Notice: "Changed " + is.Catalog.Describe() + ":\n" + strings.Join(said, "\n"), To: sourceAddress(is.Catalog)}, nil
}

func (c sources) removeSource(ctx context.Context, q *query) (done, error) {
	is, _, err := found(ctx, q)
	if err != nil {
		return done{}, err
	}
	if q.get("mark") != is.Mark() {
		return done{}, changed(&ops.MeantError{Object: is.Catalog.Describe()})
	}
	if err := is.Remove(ctx, q.user.client, false); err != nil {
		return done{}, err
	}
	return done{Notice: "Removed " + is.Catalog.Describe() + ". What was installed from it stays.", To: "/sources"}, nil
}

func (c sources) part() part {
	p := part{views: []view{{path: "/sources", template: "sources", title: "Catalog sources", load: c.all}}, actions: []action{{"/sources/add", c.addSource}}}
	for _, at := range []string{"/source/v0/{namespace}/{name}", "/source/v1/{name}"} {
		p.views = append(p.views, view{path: at, template: "source", title: "Catalog source", load: c.one}, view{path: at + "/update", template: "update", title: "What an update would change", load: c.update})
		p.actions = append(p.actions, action{at + "/change", c.changeSource}, action{at + "/remove", c.removeSource})
	}
	return p
}

// wholeMinutes are an interval as a form has it.
func wholeMinutes(interval string) string {
	d, err := time.ParseDuration(interval)
	if err != nil {
		return "0"
	}
	return strconv.Itoa(int(d / time.Minute))
}
