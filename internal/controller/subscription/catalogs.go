package subscription

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/version"

	"google.golang.org/grpc/connectivity"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reasonCatalogLoading is that of CatalogSourcesUnhealthy while it is not known whether the catalog has anything.
const reasonCatalogLoading = "CatalogSourceLoading"

// catalogs are the catalogs that concern a Subscription.
type catalogs struct {
	sub     *v1alpha1.Subscription
	all     []snapshot.Source
	named   *snapshot.Source   // the one that it names; nil when that is not in view
	missing []*snapshot.Source // those without content that the decision would have had to ask besides
}

// missing are the catalogs without content that a decision would have had to ask, as far as they are in view.
func missing(s *state, g *group, held heldBack) []*snapshot.Source {
	if g == nil {
		return nil
	}
	var refs []catalog.Ref
	if s.Annotated(snapshot.TogetherAnnotation) {
		for i := range s.Sources {
			if !s.Sources[i].Healthy() {
				refs = append(refs, s.Sources[i].Ref())
			}
		}
	}
	var conflict *resolution.Conflict
	if errors.As(g.Err, &conflict) {
		refs = append(refs, conflict.Unavailable...)
	}
	for _, h := range held {
		if h.Conflict != nil {
			refs = append(refs, h.Conflict.Unavailable...)
		}
	}
	slices.SortFunc(refs, catalog.Ref.Compare)
	var out []*snapshot.Source
	for _, ref := range slices.Compact(refs) {
		if source := s.Source(ref); source != nil {
			out = append(out, source)
		}
	}
	return out
}

// condition reports whether the catalogs that could serve the Subscription do: the one that it names, and those that a dependency would have
// to be searched in. Problems of other catalogs are in catalogHealth.
func (c catalogs) condition() v1alpha1.SubscriptionCondition {
	target := c.sub.Spec.CatalogSourceNamespace + "/" + c.sub.Spec.CatalogSource
	unknown := func(s *snapshot.Source) v1alpha1.SubscriptionCondition {
		return v1alpha1.NewSubscriptionCondition(v1alpha1.SubscriptionCatalogSourcesUnhealthy, corev1.ConditionUnknown, reasonCatalogLoading, loading(s))
	}
	switch {
	case len(c.all) == 0:
		return v1alpha1.NewNoCatalogsCondition()
	case c.named == nil:
		return v1alpha1.NewCatalogsUnhealthyCondition(fmt.Sprintf("targeted catalogsource %s missing", target))
	case c.named.Loading():
		return unknown(c.named)
	case !c.named.Healthy():
		return v1alpha1.NewCatalogsUnhealthyCondition(fmt.Sprintf("targeted catalogsource %s unhealthy", target))
	case len(c.missing) == 0:
		return v1alpha1.NewCatalogsHealthyCondition()
	case c.missing[0].Loading():
		return unknown(c.missing[0])
	}
	return v1alpha1.NewCatalogsUnhealthyCondition(fmt.Sprintf("catalogsource %s, which would have to be asked as well, unhealthy: %s", c.missing[0].Ref(), tidy(c.missing[0].Served.Problem)))
}

// catalogProblemCondition is there while the catalog that the Subscription names has no content. It reports why: the message of
// CatalogSourcesUnhealthy is compared as a whole by tools, so nothing may follow it there.
const catalogProblemCondition v1alpha1.SubscriptionConditionType = "CatalogProblem"

const reasonTargetUnhealthy = "TargetUnhealthy"

// problem reports why the catalog that the Subscription names is unhealthy.
func (c catalogs) problem() []v1alpha1.SubscriptionCondition {
	if c.named == nil || c.named.Loading() || c.named.Healthy() {
		return nil
	}
	return []v1alpha1.SubscriptionCondition{isTrue(catalogProblemCondition, reasonTargetUnhealthy,
		fmt.Sprintf("CatalogSource %s has no content to install from: %s; see the status of the CatalogSource", c.named.Ref(), tidy(c.named.Served.Problem)))}
}

func loading(s *snapshot.Source) string {
	return fmt.Sprintf("CatalogSource %s is being loaded", s.Ref())
}

// health lists the catalogs in view; an entry keeps its time as long as it says the same.
func (c catalogs) health(now metav1.Time) []v1alpha1.SubscriptionCatalogHealth {
	health := make([]v1alpha1.SubscriptionCatalogHealth, 0, len(c.all))
	for i := range c.all {
		s := &c.all[i]
		entry := v1alpha1.SubscriptionCatalogHealth{
			CatalogSourceRef: &corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.CatalogSourceKind,
				Namespace: s.Object.Namespace, Name: s.Object.Name, UID: s.Object.UID},
			Healthy:     healthy(s),
			LastUpdated: &now,
		}
		for _, old := range c.sub.Status.CatalogHealth {
			if old.Equals(entry) && old.LastUpdated != nil {
				entry.LastUpdated = old.LastUpdated
			}
		}
		health = append(health, entry)
	}
	return health
}

// healthy reports whether a catalog serves. One that is being loaded counts as what its status says, so that a manager that starts changes nothing.
func healthy(s *snapshot.Source) bool {
	if s.Loading() {
		state := s.Object.Status.GRPCConnectionState
		return state != nil && state.LastObservedState == connectivity.Ready.String()
	}
	return s.Healthy()
}

// deprecations repeats what the catalog says about the package, the channel and the installed version.
func (c catalogs) deprecations(installed *v1alpha1.ClusterServiceVersion) []v1alpha1.SubscriptionCondition {
	if c.named == nil || c.named.Served.Index == nil {
		return nil
	}
	index := c.named.Served.Index
	p, ok := index.Package(c.sub.Spec.Package)
	if !ok {
		return nil
	}
	var found []v1alpha1.SubscriptionCondition
	var messages []string
	note := func(kind v1alpha1.SubscriptionConditionType, object, message string) {
		if message != "" {
			messages = append(messages, object+": "+message)
			found = append(found, isTrue(kind, "", object+": "+message))
		}
	}
	note(v1alpha1.SubscriptionPackageDeprecated, "olm.package/"+p.Name, p.Deprecation)
	if channel, ok := p.Channel(cmp.Or(c.sub.Spec.Channel, p.DefaultChannel)); ok { // without one it follows the default channel first
		note(v1alpha1.SubscriptionChannelDeprecated, "olm.channel/"+channel.Name, channel.Deprecation)
	}
	if installed != nil {
		if b, ok := index.Bundle(p.Name, installed.Name); ok {
			note(v1alpha1.SubscriptionBundleDeprecated, "olm.bundle/"+b.Name, b.Deprecation)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return append(found, isTrue(v1alpha1.SubscriptionDeprecated, "", strings.Join(messages, "; ")))
}

// support reports whether the installed version is supported; nil when nothing is installed, or its catalog has nothing to say about the package.
func (c catalogs) support(installed *v1alpha1.ClusterServiceVersion, now time.Time) *resolution.SupportVerdict {
	if installed == nil || c.named == nil || c.named.Served.Index == nil {
		return nil
	}
	lifecycle, err := c.named.Served.Index.Lifecycle(c.sub.Spec.Package)
	if err == nil && len(lifecycle.Versions) == 0 {
		return nil
	}
	verdict := resolution.JudgeSupport(installed.Name, version.VersionRelease{Version: installed.Spec.Version.Version}, c.named.Ref().String(), lifecycle, err, now)
	return &verdict
}
