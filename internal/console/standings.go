package console

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
)

// standing is how an operator compares with what catalogs have.
type standing struct {
	// Next is what would be installed now, Allowed where upgrades lead to in the end, Head the newest of the channel, and Latest the newest in any
	// catalog, LatestIn that catalog: as fairlead outdated tells.
	Next     string `json:"next,omitempty"`
	Allowed  string `json:"allowed,omitempty"`
	Head     string `json:"channelHead,omitempty"`
	Latest   string `json:"latest,omitempty"`
	LatestIn string `json:"latestIn,omitempty"`
	// HeldBy is what is in the way of something newer, HeldUntil when an upgrade window ends that, and Advice what to do.
	HeldBy    string     `json:"heldBy,omitempty"`
	HeldUntil *time.Time `json:"heldUntil,omitempty"`
	Advice    string     `json:"advice,omitempty"`
	Support   string     `json:"support,omitempty"`
}

// standings are those of a namespace, or of all, by kind, namespace and name.
type standings struct {
	of    map[operatorKey]standing
	notes []string
}

type operatorKey struct{ kind, namespace, name string }

// standingKey is what is compared: the operators of a namespace, of all, or one of them.
type standingKey struct {
	user      *User
	namespace string
	one       operatorKey // zero is for all
}

func keyOf(l ops.Listed) operatorKey { return operatorKey{l.Kind, l.Namespace, l.Name} }

// maxCompared is how many namespaces are compared with their catalogs.
const maxCompared = 200

// comparison compares operators with catalogs.
type comparison struct{ *Console }

// of is how operators compare, in the background: that reads catalogs, which takes longer than a page may. They are compared again when they have changed.
func (c comparison) of(ctx context.Context, key standingKey, operators []ops.Listed, whole bool) (all standings, reading bool, err error) {
	return c.standings.of(ctx, key, key.user.version()+"\n"+versionOf(operators), whole, key.user, func(ctx context.Context) (standings, error) { return c.compare(ctx, key) })
}

// compare compares operators with what their catalogs have. What cannot be compared is noted, where there are others.
func (c comparison) compare(ctx context.Context, key standingKey) (standings, error) {
	out := standings{of: map[operatorKey]standing{}}
	switch key.one.kind {
	case "":
	case olmv1.ClusterExtensionKind:
		return out, c.compareExtensions(ctx, key.user, map[string]string{key.one.name: key.one.namespace}, out)
	default:
		return out, c.compareNamespace(ctx, key.user, key.namespace, out)
	}
	listing, err := ops.List(ctx, key.user.client, key.namespace)
	if err != nil {
		return out, err
	}
	namespaces, extended, into := map[string]bool{}, false, map[string]string{}
	for _, l := range listing.Operators {
		if l.API == "v1" {
			extended, into[l.Name] = true, l.Namespace
		} else {
			namespaces[l.Namespace] = true
		}
	}
	names := slices.Sorted(maps.Keys(namespaces))
	if len(names) > maxCompared {
		out.notes = append(out.notes, fmt.Sprintf("%d of %d namespaces are not compared with their catalogs: choose one", len(names)-maxCompared, len(names)))
		names = names[:maxCompared]
	}
	for _, namespace := range names {
		if err := c.compareNamespace(ctx, key.user, namespace, out); err != nil {
			out.notes = append(out.notes, fmt.Sprintf("namespace %s is not compared with its catalogs: %s", namespace, explain(err).text))
		}
	}
	if extended {
		if err := c.compareExtensions(ctx, key.user, into, out); err != nil {
			out.notes = append(out.notes, "ClusterExtensions are not compared with the catalogs: "+explain(err).text)
		}
	}
	return out, ctx.Err()
}

func (c comparison) compareNamespace(ctx context.Context, u *User, namespace string, out standings) error {
	q, err := c.namespaced(ctx, u, namespace)
	if err != nil {
		return err
	}
	q.Objects.Extensions = nil // which are decided on without regard to a namespace, once
	decided, err := q.Decide(ctx, c.Library)
	if err != nil {
		return err
	}
	all, err := decided.Outdated(ctx)
	if err != nil {
		return err
	}
	for _, s := range all.Subscriptions {
		out.of[operatorKey{v1alpha1.SubscriptionKind, namespace, s.Subscription}] = standing{Next: s.Next, Allowed: s.Allowed, Head: s.Head, Latest: s.Newest, LatestIn: s.NewestIn,
			HeldBy: s.HeldBy, HeldUntil: s.HeldUntil, Advice: s.Advice, Support: supported(s.Support.State, s.Support)}
	}
	for _, l := range all.LeftAlone {
		out.of[operatorKey{v1alpha1.SubscriptionKind, namespace, l.Subscription}] = standing{HeldBy: "left alone: " + l.Reason}
	}
	for _, name := range all.Unmanaged {
		out.of[operatorKey{v1alpha1.ClusterServiceVersionKind, namespace, name}] = standing{HeldBy: "it has no Subscription: nothing upgrades it", Advice: "create a Subscription to its package"}
	}
	return nil
}

func (c comparison) compareExtensions(ctx context.Context, u *User, into map[string]string, out standings) error {
	q, err := c.extensions(ctx, u)
	if err != nil {
		return err
	}
	decided, err := q.Decide(ctx, c.Library)
	if err != nil {
		return err
	}
	all, err := decided.Outdated(ctx)
	if err != nil {
		return err
	}
	for _, s := range all.Extensions {
		out.of[operatorKey{olmv1.ClusterExtensionKind, into[s.Extension], s.Extension}] = standing{Next: s.Next, Allowed: s.Allowed, Head: s.Head, Latest: s.Newest, LatestIn: s.NewestIn,
			HeldBy: s.HeldBy, HeldUntil: s.HeldUntil, Advice: s.Advice, Support: supported(s.Support.State, s.Support)}
	}
	return nil
}

// supported says how long a version is supported; empty where a catalog does not tell.
func supported[S ~string](state S, support fmt.Stringer) string {
	if state == "" || state == "NoData" {
		return ""
	}
	return support.String()
}

// versionOf tells whether what is installed has changed since it was compared.
func versionOf(all []ops.Listed) string {
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "%s/%s/%s %s %s\n", l.Kind, l.Namespace, l.Name, l.Version, l.Channel)
	}
	return b.String()
}
