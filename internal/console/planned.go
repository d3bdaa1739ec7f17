package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// planned is what would come of an order: the plan that `fairlead plan` would print of the objects that would be created.
type planned struct {
	// Creates has a line for each object that would be created, Manifests has them as YAML, and Command is the command line that asks for the same.
	Creates   []string `json:"creates"`
	Manifests string   `json:"manifests,omitempty"`
	Command   string   `json:"command,omitempty"`
	// Subscription or Extension is the plan, by the API of the order.
	Subscription *preview.SubscriptionPlan `json:"subscription,omitempty"`
	Extension    *preview.ExtensionPlan    `json:"extension,omitempty"`
	// Why is why it would be installed, or not; Verdicts are why other versions would not be.
	Why      *preview.Why      `json:"why,omitempty"`
	Verdicts []preview.Verdict `json:"verdicts,omitempty"`
	// Obstacle is why nothing can be asked for, such as a Subscription that is there already; Unplanned why it is not known what would come of it.
	Obstacle  string `json:"obstacle,omitempty"`
	Unplanned string `json:"unplanned,omitempty"`
	// Refused is what the API server says against the objects.
	Refused string `json:"refused,omitempty"`
	// Remedy is what to do about any of these in the form, where they do not say that.
	Remedy string `json:"remedy,omitempty"`
	// May is whether the user may create the objects.
	May   Right    `json:"may"`
	Notes []string `json:"notes,omitempty"`

	schema json.RawMessage // of the configuration
}

// Blocked reports whether something is in the way.
func (p *planned) Blocked() bool {
	return p.Unsolved() || p.Obstacle != "" || p.Refused != "" || p.Subscription != nil && p.Subscription.Blocked() || p.Extension != nil && len(p.Extension.Blocked) > 0
}

// Unsolved reports whether there is no version that can be installed, which Why says in full.
func (p *planned) Unsolved() bool { return p.Why != nil && p.Why.Conflict != nil }

// inTheWay is the text of what is in the way, and notes what to do about it.
func (p *planned) inTheWay(err error) string {
	text, whatToDo := obstacle(err)
	p.Remedy = cmp.Or(p.Remedy, whatToDo)
	return text
}

// planKey is an order of a user.
type planKey struct {
	user  *User
	order string
}

// maxPlans is how many are kept.
const maxPlans = 64

// maxVerdicts is how many versions are shown of which it is said why they are not chosen.
const maxVerdicts = 12

// planOf is the plan of an order, as far as it is there.
func (c *storefront) planOf(ctx context.Context, u *User, o order) (*planned, error) {
	if o.API == apiV1 {
		return c.planExtension(ctx, u, o)
	}
	return c.planSubscription(ctx, u, o)
}

// subscribing is what a Subscription for an order asks for, once the catalogs have told what they offer.
func (c *storefront) subscribing(ctx context.Context, u *User, o order) (ops.InstallOptions, []string, error) {
	asked := preview.Asked{Package: o.Package, Starting: o.Version}
	if o.Channel != "" {
		asked.Channels = []string{o.Channel}
	}
	browse := c.shelf.catalogs(u, o.Namespace)
	browse.Catalogs = []string{o.Catalog}
	offer, err := asked.LookUp(ctx, func(ctx context.Context, pkg string) (preview.Answer, error) {
		return browse.InView(ctx, c.GlobalNamespace, pkg)
	})
	options := ops.InstallOptions{Package: o.Package, Namespace: o.Namespace, Channel: o.Channel, DefaultChannel: offer.Channel, StartingCSV: o.Version, Catalog: o.Catalog,
		Offered: offer.Sources(), Modes: offer.Modes(asked), GlobalNamespace: c.GlobalNamespace, Manual: o.Manual, Targets: o.targets()}
	return options, offer.Notes, err
}

// extending is what a ClusterExtension for an order asks for, once the catalogs have told what they offer.
func (c *storefront) extending(ctx context.Context, u *User, o order) (ops.ExtensionOptions, []string, error) {
	options := ops.ExtensionOptions{Name: o.Name, Package: o.Package, Namespace: o.Namespace, Version: o.Version, Catalogs: []string{o.Catalog}, ServiceAccount: o.ServiceAccount,
		Config: o.Config, CreateNamespace: true}
	if o.Channel != "" {
		options.Channels = []string{o.Channel}
	}
	if o.Dependencies {
		options.Annotations = map[string]string{ops.DependenciesKey: "true"}
	}
	selected, err := options.Selected(ctx, u.client)
	if err != nil || len(selected) == 0 {
		return options, nil, err
	}
	browse := c.shelf.catalogs(u, o.Namespace)
	browse.Catalogs = selected
	asked := preview.Asked{Package: o.Package, Channels: options.Channels, Version: o.Version, OneFirst: true}
	offer, err := asked.LookUp(ctx, browse.V1)
	options.DefaultChannel = offer.Channel
	return options, offer.Notes, err
}

func (c *storefront) planSubscription(ctx context.Context, u *User, o order) (*planned, error) {
	p := &planned{Creates: []string{}, May: Right{Allowed: true}}
	options, notes, err := c.subscribing(ctx, u, o)
	p.Notes = notes
	if err != nil {
		p.Obstacle = p.inTheWay(err)
		return p, nil
	}
	p.Command = options.Command()
	asked, err := ops.PlanPackage(ctx, u.client, options)
	if err != nil {
		p.Obstacle = p.inTheWay(err)
		return p, nil
	}
	p.Notes = append(p.Notes, asked.Notes...)
	if err := p.creating(ctx, u, asked.Objects); err != nil {
		return nil, err
	}
	if p.May.Allowed && len(asked.Objects) > 0 {
		options.DryRun = true
		checked, err := ops.InstallPackage(ctx, u.client, options)
		p.checked(checked.Notes, err)
	}
	if err := c.decideSubscription(ctx, u, asked, p); err != nil {
		p.Unplanned = p.inTheWay(err)
	}
	return p, nil
}

// decideSubscription asks what the manager would do with the objects.
func (c *storefront) decideSubscription(ctx context.Context, u *User, asked ops.AskedSubscription, p *planned) error {
	q, err := u.cluster.QuestionAhead(ctx, asked.Subscription.Namespace, c.GlobalNamespace)
	if err != nil {
		return err
	}
	if q, err = u.reaching(q); err != nil {
		return err
	}
	q.Ask(asked.Objects...)
	decided, err := q.Decide(ctx, c.Library)
	if err != nil {
		return err
	}
	p.Notes = append(p.Notes, q.Notes...)
	if p.Subscription, err = c.planner(u).Decided(ctx, decided, asked.Subscription.Name); err != nil {
		return err
	}
	p.reasons(ctx, decided, asked.Subscription.Name, asked.Subscription.Spec.Package)
	return nil
}

func (c *storefront) planExtension(ctx context.Context, u *User, o order) (*planned, error) {
	p := &planned{Creates: []string{}, May: Right{Allowed: true}}
	options, notes, err := c.extending(ctx, u, o)
	p.Notes = notes
	if err != nil {
		p.Obstacle = p.inTheWay(err)
		return p, nil
	}
	asked, err := ops.PlanExtension(ctx, u.client, options)
	if err != nil {
		p.Obstacle = p.inTheWay(err)
		return p, nil
	}
	arrives := slices.ContainsFunc(asked.Objects, isNamespace)
	p.Notes = append(p.Notes, asked.Notes...)
	options.CreateNamespace = arrives
	p.Command = options.Command()
	if err := p.creating(ctx, u, asked.Objects); err != nil {
		return nil, err
	}
	if p.May.Allowed && len(asked.Objects) > 0 {
		options.DryRun = true
		checked, err := ops.InstallExtension(ctx, u.client, options)
		p.checked(checked.Notes, err)
	}
	if err := c.decideExtension(ctx, u, asked, arrives, p); err != nil {
		p.Unplanned = p.inTheWay(err)
	}
	return p, nil
}

func isNamespace(object client.Object) bool { _, is := object.(*corev1.Namespace); return is }

// decideExtension asks what the manager would do with the objects.
func (c *storefront) decideExtension(ctx context.Context, u *User, asked ops.AskedExtension, arrives bool, p *planned) error {
	q, err := c.extensions(ctx, u)
	if err != nil {
		return err
	}
	q.Namespace = asked.Extension.Spec.Namespace
	q.Ask(asked.Objects...)
	decided, err := q.Decide(ctx, c.Library)
	if err != nil {
		return err
	}
	p.reasons(ctx, decided, asked.Extension.Name, asked.Extension.Spec.Source.Catalog.PackageName)
	planner := c.planner(u)
	if arrives {
		planner.NewNamespace = q.Namespace
	}
	if p.Extension, err = planner.Plan(ctx, q, asked.Extension.Name); err != nil {
		return err
	}
	p.schema = p.Extension.ConfigSchema
	return nil
}

// creating notes what is to be created, and whether the user may.
func (p *planned) creating(ctx context.Context, u *User, objects []client.Object) (err error) {
	if p.Manifests, err = ops.Manifests(objects); err != nil {
		return err
	}
	var missing []string
	for _, object := range objects {
		group, resource := "", "namespaces"
		switch object.(type) {
		case *operatorsv1.OperatorGroup:
			group, resource = operatorsv1.GroupVersion.Group, "operatorgroups"
		case *v1alpha1.Subscription:
			group, resource = v1alpha1.GroupVersion.Group, "subscriptions"
		case *olmv1.ClusterExtension:
			group, resource = olmv1.GroupVersion.Group, "clusterextensions"
		}
		name := object.GetName()
		if object.GetNamespace() != "" {
			name = object.GetNamespace() + "/" + name
		}
		p.Creates = append(p.Creates, object.GetObjectKind().GroupVersionKind().Kind+" "+name)
		if right := u.may(ctx, "create", group, resource, object.GetNamespace()); !right.Allowed {
			missing = append(missing, right.Missing)
		}
	}
	if len(missing) > 0 {
		p.May = Right{Missing: strings.Join(missing, "; ")}
	}
	return nil
}

// checked notes what the API server says of the objects.
func (p *planned) checked(notes []string, err error) {
	for _, note := range notes {
		if !slices.Contains(p.Notes, note) {
			p.Notes = append(p.Notes, note)
		}
	}
	if err != nil {
		p.Refused = p.inTheWay(err)
	}
}

// reasons are why it would be installed, or not, and why nothing else.
func (p *planned) reasons(ctx context.Context, decided *preview.Preview, name, pkg string) {
	why := decided.Why(name)
	p.Why = &why
	not, err := decided.WhyNot(ctx, pkg, "")
	if err != nil {
		p.Notes = append(p.Notes, fmt.Sprintf("why other versions are not chosen is not known: %v", err))
		return
	}
	for _, v := range not.Verdicts {
		if !v.Chosen && len(p.Verdicts) < maxVerdicts {
			p.Verdicts = append(p.Verdicts, v)
		}
	}
}
