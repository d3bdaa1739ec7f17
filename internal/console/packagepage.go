package console

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// packagePage is a package as one catalog has it.
type packagePage struct {
	*preview.Package
	// Catalogs are all that have a package of the name.
	Catalogs []string `json:"catalogs"`
	// Detail is what it says of itself at length; nil while it is being read, which Reading says, or where it cannot be, which Failed says.
	Detail  *preview.Detail `json:"detail,omitempty"`
	Reading bool            `json:"reading,omitempty"`
	Failed  string          `json:"failed,omitempty"`
	// Order is what the button would ask for, and Plan what would come of it; nil while it is being made.
	Order    order    `json:"order"`
	Plan     *planned `json:"plan,omitempty"`
	Planning bool     `json:"planning,omitempty"`
	Unknown  string   `json:"unknown,omitempty"` // why there is none
	// Other is an order by the other API, where a catalog of that has the package.
	Other *order `json:"other,omitempty"`
	// Installed are the operators that are there of it.
	Installed []ops.Listed `json:"installed,omitempty"`
	Notes     []string     `json:"notes,omitempty"`
	// All is true where all versions and all entries of the graph are shown.
	All bool `json:"all,omitempty"`

	text    template.HTML
	cut     bool
	drawing template.HTML
}

// Bounds of the page.
const (
	maxVersions  = 40
	maxEntries   = 40
	allVersions  = 400
	allEntries   = 300
	maxDetails   = 64
	maxLinks     = 20
	maxAPIs      = 60
	maxGraphText = 64 << 10
)

// detailKey is what is said of a package.
type detailKey struct {
	user                    *User
	namespace, catalog, pkg string
	channel                 string
	newest                  int
}

// detailed is that, made ready for a page.
type detailed struct {
	*preview.Detail
	text    template.HTML
	cut     bool
	drawing template.HTML
}

// Title is how the package calls itself.
func (p *packagePage) Title() string { return card{Package: p.Package}.Title() }

func (p *packagePage) pageTitle() string { return p.Title() }

// Text is the description as HTML; Cut is whether there is more of it.
func (p *packagePage) Text() template.HTML { return p.text }

// Cut reports whether the description is longer than what is shown.
func (p *packagePage) Cut() bool { return p.cut }

// Drawing is the upgrade graph.
func (p *packagePage) Drawing() template.HTML { return p.drawing }

// Shown are the versions that the table has.
func (p *packagePage) Shown() []preview.Version {
	if p.All {
		return p.Versions[:min(len(p.Versions), allVersions)]
	}
	return p.Versions[:min(len(p.Versions), maxVersions)]
}

// Left is how many versions the table does not have.
func (p *packagePage) Left() int { return len(p.Versions) - len(p.Shown()) }

// Address is the page of the package in another catalog.
func (p *packagePage) Address(catalog, namespace string) string {
	values := url.Values{"catalog": {catalog}}
	if namespace != "" {
		values.Set(namespaceKey, namespace)
	}
	return "/package/" + url.PathEscape(p.Name) + "?" + values.Encode()
}

// Install is the address of the form with an order.
func (o order) Install() string { return "/install?" + o.values().Encode() }

func (c *storefront) packageOf(ctx context.Context, q *query) (any, error) {
	name := q.path("name")
	all, one, err := c.offering(ctx, q, name, q.get("catalog"))
	if err != nil {
		return nil, err
	}
	listing := c.listed(ctx, q)
	p := &packagePage{Package: one, All: q.get("all") == "yes", Notes: listing.Notes}
	for _, operator := range listing.Operators {
		if operator.Package == name {
			p.Installed = append(p.Installed, operator)
		}
	}
	for _, other := range all {
		p.Catalogs = append(p.Catalogs, other.Catalog)
	}
	p.Order, p.Other = c.orders(ctx, q, all, one)
	if err := c.describes(ctx, q, p); err != nil {
		return nil, err
	}
	o := p.Order
	p.Plan, p.Planning, err = c.plans.of(ctx, planKey{q.user, o.key()}, q.user.version(), q.whole, q.user, func(ctx context.Context) (*planned, error) { return c.planOf(ctx, q.user, o) })
	if err != nil {
		p.Unknown = explain(err).text
	}
	return p, nil
}

// orders are what the buttons of a package ask for, by the API of the catalog and by the other one.
func (c *storefront) orders(ctx context.Context, q *query, all []*preview.Package, one *preview.Package) (mine order, other *order) {
	of := func(p *preview.Package) order {
		o := order{API: apiV0, Package: p.Name, Catalog: p.Catalog, Namespace: c.placed(ctx, q, p)}
		if preview.IsClusterCatalog(p.Catalog) {
			o.API = apiV1
		}
		return o
	}
	mine = of(one)
	for _, p := range all {
		if o := of(p); o.API != mine.API {
			return mine, &o
		}
	}
	return mine, nil
}

// describes reads what the catalog says at length.
func (c *storefront) describes(ctx context.Context, q *query, p *packagePage) error {
	choice := preview.GraphChoice{Channel: q.get("graph"), Newest: maxEntries}
	if p.All {
		choice.Newest = allEntries
	}
	if choice.Channel != "" && preview.Check("channel", choice.Channel) != nil {
		return &statusError{http.StatusBadRequest, "No channel is called " + messages.Clean(choice.Channel), "choose one of those in the table of channels"}
	}
	namespace := c.viewpoint(ctx, q, p.Catalog)
	key := detailKey{q.user, namespace, p.Catalog, p.Name, choice.Channel, choice.Newest}
	said, reading, err := c.details.get(ctx, key, q.whole, q.user, func(ctx context.Context) (*detailed, error) {
		d, err := c.shelf.catalogs(q.user, namespace).Detail(ctx, p.Catalog, p.Name, choice)
		if d == nil || err != nil {
			return nil, err
		}
		return c.ready(d)
	})
	switch {
	case err != nil:
		p.Failed = explain(err).text
	case reading:
		p.Reading = true
	case said != nil:
		p.Detail, p.text, p.cut, p.drawing = said.Detail, said.text, said.cut, said.drawing
	}
	return nil
}

// ready makes HTML of a detail.
func (c *storefront) ready(d *preview.Detail) (*detailed, error) {
	out := &detailed{Detail: d}
	out.text, out.cut = c.markdown.html(d.Text)
	d.Links, d.Maintainers = d.Links[:min(len(d.Links), maxLinks)], d.Maintainers[:min(len(d.Maintainers), maxLinks)]
	d.Owned, d.Needed = d.Owned[:min(len(d.Owned), maxAPIs)], d.Needed[:min(len(d.Needed), maxAPIs)]
	if d.Graph == nil {
		return out, nil
	}
	drawing, err := d.Graph.SVG()
	if err != nil {
		return nil, err
	}
	out.drawing = template.HTML(drawing) //nolint:gosec // catalog/graph draws it, and escapes every text of the catalog
	if len(d.Graph.Text) > maxGraphText {
		d.Graph.Text = strings.ToValidUTF8(d.Graph.Text[:maxGraphText], "") + "\n…"
	}
	return out, nil
}
