package console

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operatorPath is the page of an operator, by the object that it is known by. The namespace of a ClusterExtension is the one that it installs into.
const operatorPath = "/operator/{kind}/{namespace}/{name}"

// operatorPages are the pages of one operator, and what they change.
type operatorPages struct{ *Console }

// operatorPage is one operator, with all that belongs to it.
type operatorPage struct {
	*ops.Operator
	// Standing is works, fails or waits.
	Standing string `json:"standing"`
	// Compared is how it stands against its catalogs; Reading is true while that is being read.
	Compared standing       `json:"compared"`
	Reading  bool           `json:"reading,omitempty"`
	Rights   operatorRights `json:"rights"`
	// At is the address of this page without parameters.
	At string `json:"-"`
}

// Phases are those of the ClusterServiceVersions among the conditions.
func (p *operatorPage) Phases() (all []ops.Condition) {
	for _, c := range p.Conditions {
		if c.Type == "Phase" {
			all = append(all, c)
		}
	}
	return all
}

func (p *operatorPage) pageTitle() string { return p.Name }

// operatorRights are what the user may do with an operator.
type operatorRights struct {
	Change Right `json:"change"`
	Remove Right `json:"remove"`
}

// operatorRef is the operator that an address names.
type operatorRef struct {
	kind string
	client.ObjectKey
}

func (q *query) operator() operatorRef {
	return operatorRef{q.path("kind"), client.ObjectKey{Namespace: q.path("namespace"), Name: q.path("name")}}
}

// at is the address of its page.
func (o operatorRef) at() string {
	return "/operator/" + url.PathEscape(o.kind) + "/" + url.PathEscape(o.Namespace) + "/" + url.PathEscape(o.Name)
}

// title names it.
func (o operatorRef) title() string {
	if o.kind == olmv1.ClusterExtensionKind {
		return o.kind + " " + o.Name
	}
	return o.kind + " " + o.Namespace + "/" + o.Name
}

// object is an empty object of its kind, with the key that it is read by.
func (o operatorRef) object() (client.Object, client.ObjectKey) {
	switch o.kind {
	case olmv1.ClusterExtensionKind:
		return &olmv1.ClusterExtension{}, client.ObjectKey{Name: o.Name}
	case v1alpha1.ClusterServiceVersionKind:
		return &v1alpha1.ClusterServiceVersion{}, o.ObjectKey
	}
	return &v1alpha1.Subscription{}, o.ObjectKey
}

// rights are what the user may do with it.
func (o operatorRef) rights(ctx context.Context, u *User) (r operatorRights) {
	var with Right // a Subscription goes with its ClusterServiceVersion
	var asking sync.WaitGroup
	asking.Go(func() { r.Change = o.mayChange(ctx, u) })
	asking.Go(func() { r.Remove = o.mayRemove(ctx, u) })
	if o.kind == v1alpha1.SubscriptionKind {
		asking.Go(func() { with = u.may(ctx, "delete", v1alpha1.GroupName, "clusterserviceversions", o.Namespace) })
	}
	asking.Wait()
	if o.kind == v1alpha1.SubscriptionKind && r.Remove.Allowed {
		r.Remove = with
	}
	return r
}

// mayChange is whether the user may change it, and mayRemove whether they may remove the object itself.
func (o operatorRef) mayChange(ctx context.Context, u *User) Right { return o.may(ctx, u, "patch") }

func (o operatorRef) mayRemove(ctx context.Context, u *User) Right { return o.may(ctx, u, "delete") }

func (o operatorRef) may(ctx context.Context, u *User, verb string) Right {
	switch o.kind {
	case olmv1.ClusterExtensionKind:
		return u.may(ctx, verb, olmv1.GroupVersion.Group, "clusterextensions", "")
	case v1alpha1.ClusterServiceVersionKind:
		return u.may(ctx, verb, v1alpha1.GroupName, "clusterserviceversions", o.Namespace)
	}
	return u.may(ctx, verb, v1alpha1.GroupName, "subscriptions", o.Namespace)
}

// read reads the operator as the user.
func (c operatorPages) read(ctx context.Context, q *query, o operatorRef) (*ops.Operator, error) {
	if o.kind != v1alpha1.SubscriptionKind && o.kind != v1alpha1.ClusterServiceVersionKind && o.kind != olmv1.ClusterExtensionKind {
		return nil, &statusError{http.StatusNotFound, "There is no operator that is a " + messages.Clean(o.kind), "choose one of what is installed: a Subscription, a ClusterServiceVersion or a ClusterExtension"}
	}
	found, err := ops.OperatorReader{Reader: q.user.client, Logs: q.user.logs(), Now: c.Clock.Now()}.Operator(ctx, o.kind, o.ObjectKey)
	return found, unfit(err, "choose the operator among those that are installed")
}

// logs reads the ends of logs as the user; nil where there is no connection that can.
func (u *User) logs() ops.Logs {
	if u.config == nil {
		return nil
	}
	logs, err := kubeconfig.Logs(u.config)
	if err != nil {
		return nil // NewUser has connected with the same
	}
	return logs
}

func (c operatorPages) operator(ctx context.Context, q *query) (any, error) {
	o := q.operator()
	var rights operatorRights
	var asking sync.WaitGroup
	asking.Go(func() { rights = o.rights(ctx, q.user) })
	found, err := c.read(ctx, q, o)
	if asking.Wait(); err != nil {
		return nil, err
	}
	p := &operatorPage{Operator: found, Standing: found.Listed.Standing(), Rights: rights, At: o.at()}
	compared, reading, err := comparison(c).of(ctx, standingKey{q.user, o.Namespace, keyOf(found.Listed)}, []ops.Listed{found.Listed}, q.whole)
	if p.Reading = reading; err != nil {
		p.Notes = append(p.Notes, "it is not compared with its catalogs: "+explain(err).text)
	}
	p.Compared = compared.of[keyOf(found.Listed)]
	return p, nil
}

func (c operatorPages) part() part {
	return part{
		views: []view{
			{path: operatorPath, template: "operator", title: "Operator", load: c.operator},
			{path: operatorPath + "/upgrade", template: "upgrade", title: "Upgrade", load: c.upgrade},
			{path: operatorPath + "/rollback", template: "rollback", title: "Roll back", load: c.rollback},
			{path: operatorPath + "/diff", template: "diff", title: "Difference", load: c.difference},
			{path: operatorPath + "/uninstall", template: "uninstall", title: "Uninstall", load: c.uninstall},
		},
		actions: []action{
			{path: operatorPath + "/hold", do: c.hold},
			{path: operatorPath + "/release", do: c.release},
			{path: operatorPath + "/upgrade", do: c.doUpgrade},
			{path: operatorPath + "/upgrade/plan", do: c.chooseUpgrade},
			{path: operatorPath + "/uninstall/choice", do: c.choose},
			{path: operatorPath + "/rollback", do: c.doRollback},
			{path: operatorPath + "/uninstall", do: c.doUninstall},
		},
	}
}
