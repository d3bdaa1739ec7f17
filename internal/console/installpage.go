package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// usualNamespace is where an operator goes that suggests no place.
const usualNamespace = ops.DefaultNamespace

// installPage is a form for an order, and what would come of it.
type installPage struct {
	Order order `json:"order"`
	// Wrong is what is wrong with the form: there is no plan then.
	Wrong []problem `json:"wrong,omitempty"`
	// Catalogs are those that have the package, for both APIs.
	Catalogs []string `json:"catalogs"`
	// Channels, Versions and Modes are what the package has.
	Title     string            `json:"title"`
	Default   string            `json:"defaultChannel"`
	Channels  []preview.Channel `json:"channels"`
	Versions  []preview.Version `json:"versions"`
	Modes     []string          `json:"modes"`
	Suggested string            `json:"suggestedNamespace,omitempty"`
	// Group is the OperatorGroup of the namespace, which says what operators watch, whatever the form says.
	Group string `json:"group,omitempty"`
	// Fields are those of the configuration that have an input, Others are written as YAML, as in Rest. Known is false while the bundle is not read.
	Fields []field  `json:"fields,omitempty"`
	Others []string `json:"others,omitempty"`
	Rest   string   `json:"rest,omitempty"`
	Known  bool     `json:"known"`
	// Plan is what would come of it; nil while it is being made, which Planning says.
	Plan     *planned `json:"plan,omitempty"`
	Planning bool     `json:"planning,omitempty"`
	// Address is the page with this order, to be shared; empty where it is too long for one.
	Address string `json:"address,omitempty"`

	digest string
}

func (p *installPage) pageTitle() string { return "Install " + p.Title }

// pageAddress is the address of the page, and whether it has all of the order.
func (p *installPage) pageAddress() (address string, whole bool) {
	if p.Address == "" {
		return "/install?" + url.Values{"package": {p.Order.Package}, "catalog": {p.Order.Catalog}}.Encode(), false
	}
	return p.Address, true
}

// Shown identifies the order that the page is about: what is installed is what its plan was shown of.
func (p *installPage) Shown() string { return p.digest }

// redirect is where the page can be loaded again and shared; empty where no address has all of the order, or it is not one.
func (p *installPage) redirect() string {
	if len(p.Wrong) > 0 {
		return ""
	}
	return p.Address
}

// Bounds of the page.
const (
	// maxChoosable is how many versions a form offers; others can be written.
	maxChoosable = 100
	// maxAddress is how long an address may be that is shared, in bytes.
	maxAddress = 4 << 10
)

func (c *storefront) install(ctx context.Context, q *query) (any, error) {
	p, o, err := c.ordered(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := c.watchedBy(ctx, q.user, o, p); err != nil {
		return nil, err
	}
	if len(p.Wrong) == 0 {
		if p.Plan, p.Planning, err = c.planned(ctx, q, o); err != nil {
			return nil, err
		}
	}
	if o.API == apiV1 {
		p.Known = p.Plan != nil && len(p.Plan.schema) > 0
		if p.Known {
			p.Fields, p.Others, p.Rest = fieldsOf(p.Plan.schema, o.Config)
		} else {
			_, _, p.Rest = fieldsOf(nil, o.Config)
		}
		if len(p.Wrong) > 0 { // as it was written, to be corrected
			p.Fields, p.Rest = writtenFields(q.values), q.values.Get(configKey)
		}
	}
	return p, nil
}

// planned is the plan of an order, as far as it is there. One that is too long for an address is not kept: no other page asks for it.
func (c *storefront) planned(ctx context.Context, q *query, o order) (*planned, bool, error) {
	key, plan := o.key(), func(ctx context.Context) (*planned, error) { return c.planOf(ctx, q.user, o) }
	if len(key) > maxAddress {
		p, err := turn(ctx, q.user, plan)
		return p, false, err
	}
	if q.whole || q.sent { // who has sent a form does not ask for it once more
		return c.plans.again(ctx, planKey{q.user, key}, q.user.version(), q.user, plan)
	}
	return c.plans.of(ctx, planKey{q.user, key}, q.user.version(), false, q.user, plan)
}

// ordered reads the order of a request, and fills in what it leaves to the package.
func (c *storefront) ordered(ctx context.Context, q *query) (*installPage, order, error) {
	o, wrong := readOrder(q.values)
	if o.Package == "" {
		return nil, o, &statusError{http.StatusBadRequest, "No package is named", "choose one in the catalog, and install it from its page"}
	}
	all, one, err := c.offering(ctx, q, o.Package, o.Catalog)
	if err != nil {
		return nil, o, err
	}
	if o.Catalog == "" {
		o.Catalog = firstOf(all, o.API, one).Catalog
		for _, p := range all {
			if p.Catalog == o.Catalog {
				one = p
			}
		}
	}
	if v1 := preview.IsClusterCatalog(o.Catalog); v1 != (o.API == apiV1) {
		wrong = append(wrong, problem{"catalog", fmt.Sprintf("Catalog %s is not for the %s API: choose one of the other kind.", o.Catalog, o.API)})
	}
	if o.Namespace == "" {
		o.Namespace = c.placed(ctx, q, one)
	}
	p := &installPage{Order: o, Wrong: append(wrong, o.check()...), Title: card{Package: one}.Title(), Default: one.DefaultChannel, Channels: one.Channels, Modes: one.InstallModes,
		Suggested: one.SuggestedNamespace, digest: o.digest()}
	for _, other := range all {
		p.Catalogs = append(p.Catalogs, other.Catalog)
	}
	p.Modes = slices.DeleteFunc(slices.Clone(p.Modes), func(mode string) bool { return !canBeNamed(mode) })
	p.Channels = slices.DeleteFunc(slices.Clone(p.Channels), func(c preview.Channel) bool { return !canBeNamed(c.Name) })
	for _, v := range one.Versions {
		if len(p.Versions) < maxChoosable && canBeNamed(v.Name) && canBeNamed(v.Version) {
			p.Versions = append(p.Versions, v)
		}
	}
	if address := "/install?" + o.key(); len(address) <= maxAddress {
		p.Address = address
	}
	return p, o, nil
}

// firstOf is the first catalog of an API.
func firstOf(all []*preview.Package, api string, or *preview.Package) *preview.Package {
	for _, p := range all {
		if preview.IsClusterCatalog(p.Catalog) == (api == apiV1) {
			return p
		}
	}
	return or
}

// watchedBy finds the OperatorGroup of the namespace: what it selects is what operators watch.
func (c *storefront) watchedBy(ctx context.Context, u *User, o order, p *installPage) error {
	if o.API != apiV0 || len(p.Wrong) > 0 {
		return nil
	}
	var groups operatorsv1.OperatorGroupList
	if err := u.client.List(ctx, &groups, client.InNamespace(o.Namespace)); err != nil {
		return fmt.Errorf("list the OperatorGroups of namespace %s: %w", o.Namespace, err)
	}
	if len(groups.Items) > 0 {
		p.Group = groups.Items[0].Name
	}
	return nil
}

// installs does what an order asks for, as the user.
func (c *storefront) installs(ctx context.Context, q *query) (done, error) {
	p, o, err := c.ordered(ctx, q)
	if err != nil {
		return done{}, err
	}
	if len(p.Wrong) > 0 {
		return done{}, &statusError{http.StatusBadRequest, "Package " + o.Package + " is not installed: " + p.Wrong[0].Text, "go back, correct the form, and let the plan be made again"}
	}
	if q.get(shownKey) != o.digest() {
		if p.Address == "" {
			return done{}, &statusError{http.StatusConflict, "Package " + o.Package + " is not installed: the form was changed after its plan was made", "go back to what the form says now, read its plan, then install"}
		}
		return done{Notice: "The form was changed after its plan was made, so that nothing was created. This is the plan of what it says now: read it, then install.", To: p.Address}, nil
	}
	if o.API == apiV1 {
		options, _, err := c.extending(ctx, q.user, o)
		if err != nil {
			return done{}, notInstalled(o, err)
		}
		asked, err := ops.InstallExtension(ctx, q.user.client, options)
		if err != nil {
			return done{}, notInstalled(o, err)
		}
		return begun(asked.Created, o, "ClusterExtension", o.Namespace, asked.Extension.Name), nil
	}
	options, _, err := c.subscribing(ctx, q.user, o)
	if err != nil {
		return done{}, notInstalled(o, err)
	}
	asked, err := ops.InstallPackage(ctx, q.user.client, options)
	if err != nil {
		return done{}, notInstalled(o, err)
	}
	return begun(asked.Created, o, v1alpha1.SubscriptionKind, o.Namespace, asked.Subscription.Name), nil
}

// notInstalled says what to do about an order that was refused.
func notInstalled(o order, err error) error {
	known := explain(err)
	return &statusError{known.status, fmt.Sprintf("Package %s is not installed in namespace %s: %s", o.Package, o.Namespace, known.text), known.whatToDo}
}

// begun leads to the page of what was asked for.
func begun(created []string, o order, kind, namespace, name string) done {
	notice := "All of it is there already: nothing was created."
	if len(created) > 0 {
		notice = "Created:"
		for _, what := range created {
			notice += "\n" + what
		}
		notice += "\nThe manager installs the operator now, which this page follows."
		if o.Manual {
			notice = notice[:len(notice)-len("The manager installs the operator now, which this page follows.")] + "The manager writes an InstallPlan, which waits for approval."
		}
	}
	return done{Notice: notice, To: "/operator/" + url.PathEscape(kind) + "/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)}
}
