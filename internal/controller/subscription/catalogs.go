package subscription

import (
	"cmp"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"google.golang.org/grpc/connectivity"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reasonCatalogLoading is that of CatalogSourcesUnhealthy while it is not known whether the catalog has anything.
const reasonCatalogLoading = "CatalogSourceLoading"

// catalogs says whether the catalogs that could serve the Subscription do: the one that it names, and those that a dependency would have
// to be looked for in. Trouble with other catalogs is in catalogHealth.
func (v view) catalogs() v1alpha1.SubscriptionCondition {
	target := v.sub.Spec.CatalogSourceNamespace + "/" + v.sub.Spec.CatalogSource
	switch {
	case len(v.state.Sources) == 0:
		return v1alpha1.NewNoCatalogsCondition()
	case v.source == nil:
		return v1alpha1.NewCatalogsUnhealthyCondition(fmt.Sprintf("targeted catalogsource %s missing", target))
	case v.source.Loading():
		return v1alpha1.NewSubscriptionCondition(v1alpha1.SubscriptionCatalogSourcesUnhealthy, corev1.ConditionUnknown, reasonCatalogLoading, loading(v.source))
	case !v.source.Healthy():
		return v1alpha1.NewCatalogsUnhealthyCondition(fmt.Sprintf("targeted catalogsource %s unhealthy", target))
	}
	for _, ref := range v.unavailable() {
		s := v.state.Source(ref)
		switch {
		case s == nil:
		case s.Loading():
			return v1alpha1.NewSubscriptionCondition(v1alpha1.SubscriptionCatalogSourcesUnhealthy, corev1.ConditionUnknown, reasonCatalogLoading, loading(s))
		default:
			return v1alpha1.NewCatalogsUnhealthyCondition(fmt.Sprintf("catalogsource %s, which would have to be asked as well, unhealthy: %s", ref, tidy(s.Served.Problem)))
		}
	}
	return v1alpha1.NewCatalogsHealthyCondition()
}

// catalogProblemCondition is there while the catalog that the Subscription names has no content. It reports why: the message of
// CatalogSourcesUnhealthy is compared as a whole by tools, so nothing may follow it there.
const catalogProblemCondition v1alpha1.SubscriptionConditionType = "CatalogProblem"

const reasonTargetUnhealthy = "TargetUnhealthy"

// catalogProblem reports why the catalog that the Subscription names is unhealthy.
func (v view) catalogProblem() []v1alpha1.SubscriptionCondition {
	if v.source == nil || v.source.Loading() || v.source.Healthy() {
		return nil
	}
	return []v1alpha1.SubscriptionCondition{isTrue(catalogProblemCondition, reasonTargetUnhealthy,
		fmt.Sprintf("CatalogSource %s has no content to install from: %s; see the status of the CatalogSource", v.source.Ref(), tidy(v.source.Served.Problem)))}
}

func loading(s *snapshot.Source) string {
	return fmt.Sprintf("CatalogSource %s is being loaded", s.Ref())
}

// catalogTrouble tells whether the cause may lie in a catalog rather than in what is asked for.
func (v view) catalogTrouble() bool { return v.catalogs().Status != corev1.ConditionFalse }

// catalogHealth lists the catalogs in view; an entry keeps its time as long as it says the same.
func (v view) catalogHealth(now metav1.Time) []v1alpha1.SubscriptionCatalogHealth {
	health := make([]v1alpha1.SubscriptionCatalogHealth, 0, len(v.state.Sources))
	for i := range v.state.Sources {
		s := &v.state.Sources[i]
		entry := v1alpha1.SubscriptionCatalogHealth{
			CatalogSourceRef: &corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.CatalogSourceKind,
				Namespace: s.Object.Namespace, Name: s.Object.Name, UID: s.Object.UID},
			Healthy:     healthy(s),
			LastUpdated: &now,
		}
		for _, old := range v.sub.Status.CatalogHealth {
			if old.Equals(entry) && old.LastUpdated != nil {
				entry.LastUpdated = old.LastUpdated
			}
		}
		health = append(health, entry)
	}
	return health
}

// healthy tells whether a catalog serves; of one that is being loaded counts what it said last, so that a manager that starts changes
// nothing.
func healthy(s *snapshot.Source) bool {
	if s.Loading() {
		state := s.Object.Status.GRPCConnectionState
		return state != nil && state.LastObservedState == connectivity.Ready.String()
	}
	return s.Healthy()
}

// deprecations repeats what the catalog says about the package, the channel and the installed version.
func (v view) deprecations() []v1alpha1.SubscriptionCondition {
	if v.source == nil || v.source.Served.Index == nil {
		return nil
	}
	index := v.source.Served.Index
	p, ok := index.Package(v.sub.Spec.Package)
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
	if c, ok := p.Channel(cmp.Or(v.sub.Spec.Channel, p.DefaultChannel)); ok { // without one it follows the default channel first
		note(v1alpha1.SubscriptionChannelDeprecated, "olm.channel/"+c.Name, c.Deprecation)
	}
	if v.installed != nil {
		if b, ok := index.Bundle(p.Name, v.installed.Name); ok {
			note(v1alpha1.SubscriptionBundleDeprecated, "olm.bundle/"+b.Name, b.Deprecation)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return append(found, isTrue(v1alpha1.SubscriptionDeprecated, "", strings.Join(messages, "; ")))
}
