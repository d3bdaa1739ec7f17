package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// upgradePage lets a user choose what an operator follows, and shows what that changes.
type upgradePage struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Package   string `json:"package"`
	Catalog   string `json:"catalog,omitempty"`
	Installed string `json:"installed,omitempty"`
	// Channel and Version are what is asked for: by the address, or now.
	Channel string `json:"channel"`
	Version string `json:"version,omitempty"`
	// Channels and Versions are what its catalogs offer; Reading is true while they are being read.
	Channels []preview.Channel `json:"channels,omitempty"`
	Versions []string          `json:"versions,omitempty"`
	Reading  bool              `json:"reading,omitempty"`
	// Planned: the address asks for the plan. Said is what would be asked for differently.
	Planned bool     `json:"planned"`
	Said    []string `json:"said,omitempty"`
	upgradePlan
	beside
	Notes []string `json:"notes,omitempty"`
	Right Right    `json:"right"`
	At    string   `json:"-"`
}

// upgradePlan is what would come of a change: a plan of one of the kinds.
type upgradePlan struct {
	Extension    *preview.ExtensionPlan    `json:"extension,omitempty"`
	Subscription *preview.SubscriptionPlan `json:"subscription,omitempty"`
	asking       []string                  // notes on what was asked
}

// Shown is the choice that the page is about, as an address has it.
func (p *upgradePage) Shown() string { return upgradeChoice(p.Channel, p.Version) }

// Obstructed reports whether the plan says that nothing would come of it.
func (p *upgradePage) Obstructed() bool {
	return p.Subscription != nil && (p.Subscription.Conflict != nil || p.Subscription.Problem != "" || len(p.Subscription.Misfits) > 0) || p.Extension != nil && len(p.Extension.Blocked) > 0
}

func upgradeChoice(channel, version string) string {
	return url.Values{"channel": {channel}, "version": {version}}.Encode()
}

// chooseUpgrade shows the plan of a choice.
func (c operatorPages) chooseUpgrade(_ context.Context, q *query) (done, error) {
	return done{To: q.operator().at() + "/upgrade?" + upgradeChoice(q.get("channel"), q.get("version"))}, nil
}

func (p *upgradePage) pageTitle() string { return "Upgrade " + p.Name }

// Again is the address of the page with what is asked for.
func (p *upgradePage) Again() string {
	return p.At + "/upgrade?" + p.Shown()
}

// maxOffered is how many versions are offered to choose from; every other can be typed.
const maxOffered = 200

func (c operatorPages) upgrade(ctx context.Context, q *query) (any, error) {
	o := q.operator()
	p := &upgradePage{Kind: o.kind, Namespace: o.Namespace, Name: o.Name, Planned: q.values.Has("channel"), Right: o.mayChange(ctx, q.user), At: o.at()}
	var err error
	switch o.kind {
	case v1alpha1.SubscriptionKind:
		err = c.upgradeSubscription(ctx, q, o, p)
	case olmv1.ClusterExtensionKind:
		err = c.upgradeExtension(ctx, q, o, p)
	default:
		err = noUpgrade(o)
	}
	if err != nil {
		return nil, err
	}
	offered, reading, err := c.shelf.offers(ctx, q.user, o.Namespace, q.whole)
	if p.Reading = reading; err != nil {
		p.Notes = append(p.Notes, "what the catalogs offer is not known: "+explain(err).text)
	}
	for _, pkg := range offered.Packages {
		if pkg.Name != p.Package || p.Catalog != "" && pkg.Catalog != p.Catalog || (o.kind == olmv1.ClusterExtensionKind) == strings.Contains(pkg.Catalog, "/") {
			continue
		}
		for _, ch := range pkg.Channels {
			if !slices.ContainsFunc(p.Channels, func(known preview.Channel) bool { return known.Name == ch.Name }) {
				p.Channels = append(p.Channels, ch)
			}
		}
		for _, v := range pkg.Versions {
			if len(p.Versions) < maxOffered && !slices.Contains(p.Versions, v.Version) {
				p.Versions = append(p.Versions, v.Version)
			}
		}
	}
	return p, nil
}

func noUpgrade(o operatorRef) error {
	return &statusError{http.StatusBadRequest, o.title() + " follows no catalog, so there is nothing to choose", "create a Subscription to its package, which takes it over"}
}

// upgradeSubscription plans for a Subscription that follows the chosen channel: the InstallPlan that is there already, or the one that would be written.
func (c operatorPages) upgradeSubscription(ctx context.Context, q *query, o operatorRef, p *upgradePage) error {
	sub := &v1alpha1.Subscription{}
	if err := q.user.client.Get(ctx, o.ObjectKey, sub); err != nil {
		return fmt.Errorf("read Subscription %s: %w", o.ObjectKey, err)
	}
	if sub.Spec == nil {
		return noUpgrade(o)
	}
	p.Package, p.Catalog, p.Installed = sub.Spec.Package, sub.Spec.CatalogSourceNamespace+"/"+sub.Spec.CatalogSource, sub.Status.InstalledCSV
	p.Channel = sub.Spec.Channel
	if !p.Planned {
		return nil
	}
	before := p.Channel
	if p.Channel = q.get("channel"); p.Channel != before {
		p.Said = []string{fmt.Sprintf("channel: %s -> %s", orNone(before), orNone(p.Channel))}
	}
	return c.planUpgrade(ctx, q, o, p, sub.ResourceVersion, func(ctx context.Context) (upgradePlan, error) {
		return c.planSubscription(ctx, q.user, o, p.Channel, p.Channel == before)
	})
}

// planUpgrade is the plan of a change, which is made of bundles and of what catalogs offer: one that cannot be reached takes seconds. It is kept for a while, for
// the object as it is, and the catalogs as they are.
func (c operatorPages) planUpgrade(ctx context.Context, q *query, o operatorRef, p *upgradePage, object string, plan func(context.Context) (upgradePlan, error)) error {
	version := object + " " + c.shelf.served(ctx, q.user, o.Namespace)
	var err error
	p.upgradePlan, p.beside, err = madeBeside(ctx, q, o, c.upgrades, p.Shown(), version, plan)
	p.Notes = append(p.Notes, p.asking...)
	return err
}

// planSubscription is the plan of a Subscription that follows a channel, or of the InstallPlan that is there already when it stays on its own.
func (c operatorPages) planSubscription(ctx context.Context, u *User, o operatorRef, channel string, stays bool) (p upgradePlan, err error) {
	if stays {
		open, err := ops.OpenPlan(ctx, u.client, o.ObjectKey)
		if err != nil {
			return p, err
		}
		if open != nil {
			p.Subscription, err = c.planner(u).Open(ctx, open, o.Name, u.dial())
			return p, err
		}
	}
	question, err := c.namespaced(ctx, u, o.Namespace)
	if err != nil {
		return p, err
	}
	p.asking = question.Notes
	for i := range question.Objects.Subscriptions {
		if s := &question.Objects.Subscriptions[i]; s.Name == o.Name && s.Spec != nil {
			s.Spec.Channel = channel
		}
	}
	p.Subscription, err = c.planner(u).Subscription(ctx, question, o.Name)
	return p, err
}

// upgradeExtension plans for a ClusterExtension that asks for the chosen channels and version.
func (c operatorPages) upgradeExtension(ctx context.Context, q *query, o operatorRef, p *upgradePage) error {
	e := &olmv1.ClusterExtension{}
	if err := q.user.client.Get(ctx, client.ObjectKey{Name: o.Name}, e); err != nil {
		return fmt.Errorf("read ClusterExtension %s: %w", o.Name, err)
	}
	if e.Spec.Source.Catalog == nil {
		return noUpgrade(o)
	}
	p.Package, p.Channel, p.Version = e.Spec.Source.Catalog.PackageName, strings.Join(e.Spec.Source.Catalog.Channels, ","), e.Spec.Source.Catalog.Version
	if e.Status.Install != nil {
		p.Installed = e.Status.Install.Bundle.Name
	}
	if !p.Planned {
		return nil
	}
	p.Channel = q.get("channel")
	changed, said := extensionChange(q, e).On(e)
	p.Version, p.Said = changed.Spec.Source.Catalog.Version, said
	return c.planUpgrade(ctx, q, o, p, e.ResourceVersion, func(ctx context.Context) (plan upgradePlan, err error) {
		question, err := c.extensions(ctx, q.user)
		if err != nil {
			return plan, err
		}
		plan.asking = question.Notes
		for i := range question.Objects.Extensions {
			if question.Objects.Extensions[i].Name == o.Name {
				question.Objects.Extensions[i] = *changed
			}
		}
		plan.Extension, err = c.planner(q.user).Plan(ctx, question, o.Name)
		return plan, err
	})
}

// extensionChange is what a form or an address asks of a ClusterExtension. A version that stays as it is lets one come back that was pinned by a rollback.
func extensionChange(q *query, e *olmv1.ClusterExtension) ops.ExtensionChange {
	var channels []string
	for _, name := range strings.Split(q.get("channel"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			channels = append(channels, name)
		}
	}
	change := ops.ExtensionChange{Channels: &channels, Resume: ops.HistoryVersion, Annotations: ops.RollForward}
	if version := q.get("version"); version != e.Spec.Source.Catalog.Version {
		change.Version = &version
	}
	return change
}

func orNone(text string) string {
	if text == "" {
		return "(nothing)"
	}
	return text
}

// doUpgrade changes what an operator asks for, and follows what comes of it in the background.
func (c operatorPages) doUpgrade(ctx context.Context, q *query) (done, error) {
	o := q.operator()
	if choice := upgradeChoice(q.get("channel"), q.get("version")); o.kind != v1alpha1.ClusterServiceVersionKind && q.get(shownKey) != choice {
		return done{Notice: "The form was changed after its plan was made, so that nothing was changed. This is the plan of what it says now: read it, then change it.", To: o.at() + "/upgrade?" + choice}, nil
	}
	var said []string
	var err error
	var wait func(ctx context.Context, tell func(string)) (string, error)
	switch o.kind {
	case v1alpha1.SubscriptionKind:
		channel := q.get("channel")
		if said, _, err = ops.ChangeSubscription(ctx, q.user.client, o.ObjectKey, ops.SubscriptionChange{Channel: &channel}); err != nil {
			return done{}, err
		}
		wait = func(ctx context.Context, tell func(string)) (string, error) {
			csv, err := ops.WaitUpgrade(ctx, q.user.client, o.ObjectKey, func(_, message string) { tell(message) })
			if waits := new(ops.WaitsError); errors.As(err, &waits) {
				return approvalAwaited(waits), nil
			}
			result, err := ended(csv+" is installed and works", err, new(*ops.HeldError))
			return result, advised(err, stays)
		}
	case olmv1.ClusterExtensionKind:
		e := &olmv1.ClusterExtension{}
		if err := q.user.client.Get(ctx, client.ObjectKey{Name: o.Name}, e); err != nil {
			return done{}, fmt.Errorf("read ClusterExtension %s: %w", o.Name, err)
		}
		if e.Spec.Source.Catalog == nil {
			return done{}, noUpgrade(o)
		}
		if _, said, err = ops.ChangeExtension(ctx, q.user.client, o.Name, extensionChange(q, e)); err != nil {
			return done{}, err
		}
		wait = waitExtension(q.user, o.Name)
	default:
		return done{}, noUpgrade(o)
	}
	if len(said) == 0 {
		return done{Notice: o.title() + ": nothing to change", To: o.at()}, nil
	}
	notice := o.title() + " was changed:\n" + strings.Join(said, "\n")
	title := "Upgrade of " + o.title()
	q.jobs.endTitled(title) // which followed what was asked for before
	if err := c.runner.begin(ctx, q, title, o.at(), wait); err != nil {
		notice += "\nWhat comes of it is not followed here: " + err.Error()
	}
	return done{Notice: notice, To: o.at()}, nil
}

// approvalAwaited is what came of an upgrade whose plan waits for approval.
func approvalAwaited(w *ops.WaitsError) string {
	return fmt.Sprintf("Subscription %s: %s, waits for approval, at Approvals", w.Subscription, w.Plan)
}

// stays is what to do where an upgrade does not come to its end.
const stays = "read on its page what is in the way; what was installed stays, and it continues when the cause is gone"

// waitExtension follows a ClusterExtension until it has what it asks for.
func waitExtension(u *User, name string) func(ctx context.Context, tell func(string)) (string, error) {
	return func(ctx context.Context, tell func(string)) (string, error) {
		e, err := ops.WaitExtension(ctx, u.client, name, func(_, message string) { tell(message) })
		if err != nil || e.Status.Install == nil {
			return "", advised(err, stays)
		}
		result := e.Status.Install.Bundle.Name + " is installed and works"
		if held := ops.Stand(e).Held; held != "" {
			result += "; " + held
		}
		return result, nil
	}
}

// hold holds the upgrades of an operator.
func (c operatorPages) hold(ctx context.Context, q *query) (done, error) {
	o := q.operator()
	if o.kind == v1alpha1.ClusterServiceVersionKind {
		return done{}, noUpgrade(o)
	}
	object, key := o.object()
	changed, err := ops.Hold(ctx, q.user.client, object, key, q.get("reason"), false)
	if err != nil {
		return done{}, err
	}
	if !changed {
		return done{Notice: o.title() + ": nothing to change, it is held already", To: o.at()}, nil
	}
	return done{Notice: o.title() + ": held; what is installed stays and is looked after, and nothing newer begins until it is released", To: o.at()}, nil
}

// release lets the upgrades of an operator begin again.
func (c operatorPages) release(ctx context.Context, q *query) (done, error) {
	o := q.operator()
	if o.kind == v1alpha1.ClusterServiceVersionKind {
		return done{}, noUpgrade(o)
	}
	object, key := o.object()
	changed, err := ops.Release(ctx, q.user.client, object, key, false)
	if err != nil {
		return done{}, err
	}
	if !changed {
		return done{Notice: o.title() + ": nothing to change, it is not held by a person", To: o.at()}, nil
	}
	return done{Notice: o.title() + ": released; its upgrades begin again, in the upgrade window that it had before", To: o.at()}, nil
}
