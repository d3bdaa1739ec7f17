package preview

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What another content of a catalog means for something that is installed, or asked for.
const (
	EffectUpgrades = "upgrades" // it would be upgraded, or installed, or to another version than without
	EffectStuck    = "stuck"    // it would get nothing newer any more
	EffectGone     = "gone"     // the catalog does not have what is installed any more, and nothing follows on it
	EffectChanges  = "changes"  // its channel has something else, which it does not get by itself
)

// CatalogEffect is what another content of a catalog means for a Subscription or a ClusterExtension.
type CatalogEffect struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Package   string `json:"package"`
	Installed string `json:"installed,omitempty"`
	Effect    string `json:"effect"`
	// Before and After are how it stands.
	Before EffectStanding `json:"before"`
	After  EffectStanding `json:"after"`
	// Vanishes is true where the catalog does not have any more what is installed.
	Vanishes bool `json:"vanishes,omitempty"`
	// Gone are the versions of the package that the catalog does not have any more.
	Gone []string `json:"gone,omitempty"`
}

// EffectStanding is how something stands with a content.
type EffectStanding struct {
	Next   string `json:"next,omitempty"`
	Head   string `json:"head,omitempty"`
	HeldBy string `json:"heldBy,omitempty"`
	Advice string `json:"advice,omitempty"`
}

// maxNamespaces bounds in how many namespaces the effects are told.
const maxNamespaces = 30

// effects adds what the new content means for what is installed. Without the old one, what is decided now is read from the catalogs.
func (u CatalogUpdater) effects(ctx context.Context, object client.Object, old, now *catalog.Index, out *CatalogUpdate) error {
	contents := [2]*catalog.Index{old, now}
	if o, is := object.(*v1alpha1.CatalogSource); is {
		return u.subscriptions(ctx, o, contents, out)
	}
	q, err := u.Extensions(ctx)
	if err != nil {
		return err
	}
	if q.Kubernetes, err = u.Kubernetes(); err != nil {
		return err
	}
	q.Namespace = "default" // none is decided on: there is no Subscription
	return u.decided(ctx, q, catalog.Ref{Name: object.GetName()}, contents, out, func(Standing) bool { return false })
}

// subscriptions adds what it means for the Subscriptions that name a CatalogSource, namespace by namespace.
func (u CatalogUpdater) subscriptions(ctx context.Context, source *v1alpha1.CatalogSource, contents [2]*catalog.Index, out *CatalogUpdate) error {
	var subs v1alpha1.SubscriptionList
	err := u.Reader.List(ctx, &subs)
	if apierrors.IsForbidden(err) {
		out.Notes = append(out.Notes, messages.Unseen(err, "Subscriptions of all namespaces", "what it means is told for namespace "+source.Namespace+" alone"))
		err = u.Reader.List(ctx, &subs, client.InNamespace(source.Namespace))
	}
	if err != nil {
		return fmt.Errorf("list the Subscriptions that use CatalogSource %s/%s: %w", source.Namespace, source.Name, err)
	}
	named := map[string][]string{} // the Subscriptions that name it, by namespace
	var namespaces []string
	for i := range subs.Items {
		if s := &subs.Items[i]; s.Spec != nil && s.Spec.CatalogSource == source.Name && s.Spec.CatalogSourceNamespace == source.Namespace {
			if named[s.Namespace] == nil {
				namespaces = append(namespaces, s.Namespace)
			}
			named[s.Namespace] = append(named[s.Namespace], s.Name)
		}
	}
	slices.Sort(namespaces)
	if more := len(namespaces) - maxNamespaces; more > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("what it means is told for %d namespaces, and not for %d more: fairlead plan SUBSCRIPTION -n NAMESPACE --catalog %s/%s=IMAGE tells it for one", maxNamespaces, more, source.Namespace, source.Name))
		namespaces = namespaces[:maxNamespaces]
	}
	for _, namespace := range namespaces {
		q, err := u.Question(ctx, namespace, u.GlobalNamespace)
		if apierrors.IsForbidden(err) {
			out.Notes = append(out.Notes, messages.Unseen(err, "what namespace "+namespace+" has", "what it means there is not told"))
			continue
		}
		if err != nil {
			return err
		}
		q.Objects.Extensions = nil // which have catalogs of their own
		ref := catalog.Ref{Namespace: source.Namespace, Name: source.Name}
		if err := u.decided(ctx, q, ref, contents, out, func(s Standing) bool { return slices.Contains(named[namespace], s.Subscription) }); err != nil {
			return err
		}
	}
	return nil
}

// decided adds what the contents of a catalog make different about a question. Subscriptions that the catalog is for are told of, and of others what changes.
func (u CatalogUpdater) decided(ctx context.Context, q *Question, ref catalog.Ref, contents [2]*catalog.Index, out *CatalogUpdate, concerns func(Standing) bool) error {
	q.Dial = u.Dial
	var stands [2]Outdated
	for i, x := range contents {
		if q.Catalogs = nil; x != nil {
			q.Catalogs = []Catalog{{Ref: ref, Source: x.Digest(), Index: x}}
		}
		p, err := q.Decide(ctx, u.Library)
		if err == nil {
			stands[i], err = p.Outdated(ctx)
		}
		if err != nil {
			return err
		}
	}
	add := func(e CatalogEffect, before, after resolution.Standing, concerned bool) {
		e.judge(before, after, contents)
		if e.Effect != "" {
			out.Effects = append(out.Effects, e)
		} else if concerned {
			out.Unaffected++
		}
	}
	for _, after := range stands[1].Subscriptions {
		var before Standing
		if i := slices.IndexFunc(stands[0].Subscriptions, func(s Standing) bool { return s.Subscription == after.Subscription }); i >= 0 {
			before = stands[0].Subscriptions[i]
		}
		e := CatalogEffect{Kind: v1alpha1.SubscriptionKind, Namespace: q.Namespace, Name: after.Subscription}
		e.Before.Advice, e.After.Advice = before.Advice, after.Advice
		add(e, before.Standing, after.Standing, concerns(after))
	}
	for _, after := range stands[1].Extensions {
		var before ExtensionStanding
		if i := slices.IndexFunc(stands[0].Extensions, func(s ExtensionStanding) bool { return s.Extension == after.Extension }); i >= 0 {
			before = stands[0].Extensions[i]
		}
		e := CatalogEffect{Kind: olmv1.ClusterExtensionKind, Name: after.Extension}
		e.Before.Advice, e.After.Advice = before.Advice, after.Advice
		add(e, before.Standing, after.Standing, true)
	}
	return nil
}

// judge says what the step from one standing to another means; the effect is empty where it means nothing.
func (e *CatalogEffect) judge(before, after resolution.Standing, contents [2]*catalog.Index) {
	e.Package, e.Installed = after.Package, cmp.Or(after.Installed, before.Installed)
	e.Before.Next, e.Before.Head, e.Before.HeldBy = before.Next, before.Head, before.HeldBy
	e.After.Next, e.After.Head, e.After.HeldBy = after.Next, after.Head, after.HeldBy
	if contents[0] != nil {
		was, is := entries(contents[0], e.Package), entries(contents[1], e.Package)
		for name := range was {
			if !is[name] {
				e.Gone = append(e.Gone, name)
			}
		}
		slices.Sort(e.Gone)
		e.Vanishes = was[e.Installed] && !is[e.Installed]
	}
	switch {
	case after.Next != "" && after.Next != before.Next:
		e.Effect = EffectUpgrades
	case after.Next == "" && (before.Next != "" || after.HeldBy != "" && before.HeldBy == ""):
		e.Effect = EffectStuck
	case after.Next == "" && e.Vanishes:
		e.Effect = EffectGone
	case after.Head != before.Head || after.HeldBy != before.HeldBy || len(e.Gone) > 0:
		e.Effect = EffectChanges
	}
	if e.Vanishes && e.Effect == EffectStuck {
		e.Effect = EffectGone
	}
}

// entries are the versions of a package that a catalog has, by either API.
func entries(x *catalog.Index, pkg string) map[string]bool {
	all := map[string]bool{}
	for _, find := range []func(string) (*catalog.PackageInfo, bool){x.Package, x.PackageV1} {
		if p, served := find(pkg); served {
			for name := range versionsOf(p) {
				all[name] = true
			}
		}
	}
	return all
}
