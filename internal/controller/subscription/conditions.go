package subscription

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"

	corev1 "k8s.io/api/core/v1"
)

// owned are the condition types that this controller alone sets and takes away.
var owned = []v1alpha1.SubscriptionConditionType{
	readyCondition,
	stalledCondition,
	reconcilingCondition,
	heldBackCondition,
	misreadCondition,
	catalogProblemCondition,
	v1alpha1.SubscriptionCatalogSourcesUnhealthy,
	v1alpha1.SubscriptionInstallPlanMissing,
	v1alpha1.SubscriptionInstallPlanPending,
	v1alpha1.SubscriptionInstallPlanFailed,
	v1alpha1.SubscriptionResolutionFailed,
	v1alpha1.SubscriptionBundleUnpacking,
	v1alpha1.SubscriptionBundleUnpackFailed,
	v1alpha1.SubscriptionDeprecated,
	v1alpha1.SubscriptionPackageDeprecated,
	v1alpha1.SubscriptionChannelDeprecated,
	v1alpha1.SubscriptionBundleDeprecated,
	v1alpha1.SubscriptionSupported,
}

// conditions is all that is to be said. What follows from a catalog that is only being loaded again is repeated as it was.
func (v view) conditions() []v1alpha1.SubscriptionCondition {
	var all []v1alpha1.SubscriptionCondition
	if notes := v.state.Misread(); len(notes) > 0 {
		all = append(all, isTrue(misreadCondition, reasonNotBoolean, tidy(strings.Join(notes, "; "))))
	}
	if v.repeats() {
		all = append(all, v.planConditions()...)
		// The conditions that follow from the catalog, as they were. The verdict is found again, unless it follows from one of them or
		// says that all is well, as it did.
		was := func(t v1alpha1.SubscriptionConditionType) bool {
			return v.sub.Status.GetCondition(t).Status == corev1.ConditionTrue
		}
		trouble := was(v1alpha1.SubscriptionResolutionFailed) || was(v1alpha1.SubscriptionBundleUnpacking) || was(v1alpha1.SubscriptionBundleUnpackFailed)
		anew := !trouble && !(was(readyCondition) && v.verdict().ready)
		var kept []v1alpha1.SubscriptionCondition
		for _, c := range v.sub.Status.Conditions {
			switch c.Type {
			case v1alpha1.SubscriptionInstallPlanMissing, v1alpha1.SubscriptionInstallPlanPending, v1alpha1.SubscriptionInstallPlanFailed, misreadCondition:
				continue // found again
			case readyCondition, stalledCondition, reconcilingCondition:
				if anew {
					continue
				}
			}
			if slices.Contains(owned, c.Type) {
				kept = append(kept, c)
			}
		}
		if anew {
			kept = append(kept, v.ready()...)
		}
		return append(all, kept...)
	}
	all = append(all, v.ready()...)
	all = append(all, v.catalogs.condition())
	all = append(all, v.catalogs.problem()...)
	all = append(all, v.planConditions()...)
	all = append(all, v.decisionConditions()...)
	all = append(all, v.held.condition()...)
	if s := v.supported; s != nil {
		all = append(all, v1alpha1.NewSubscriptionCondition(v1alpha1.SubscriptionSupported, corev1.ConditionStatus(s.Status), s.Reason, s.Message))
	}
	return append(all, v.catalogs.deprecations(v.installed)...)
}

func isTrue(kind v1alpha1.SubscriptionConditionType, reason, message string) v1alpha1.SubscriptionCondition {
	return v1alpha1.NewSubscriptionCondition(kind, corev1.ConditionTrue, reason, message)
}

func (v view) ready() []v1alpha1.SubscriptionCondition {
	var all []v1alpha1.SubscriptionCondition
	for _, c := range v.verdict().shared().Conditions() {
		all = append(all, v1alpha1.NewSubscriptionCondition(v1alpha1.SubscriptionConditionType(c.Type), corev1.ConditionStatus(c.Status), c.Reason, c.Message))
	}
	return all
}

const (
	// readyCondition is the one verdict on a Subscription, in the polarity that tools expect.
	readyCondition v1alpha1.SubscriptionConditionType = reconcile.TypeReady
	// stalledCondition is there while nothing continues until a user changes something.
	stalledCondition v1alpha1.SubscriptionConditionType = reconcile.TypeStalled
	// reconcilingCondition is there while the manager gets on, or waits for another object.
	reconcilingCondition v1alpha1.SubscriptionConditionType = reconcile.TypeReconciling
)

// misreadCondition is there while an annotation of the OperatorGroup, which says how the namespace is decided on, says nothing.
const misreadCondition v1alpha1.SubscriptionConditionType = "AnnotationIgnored"

const reasonNotBoolean = "NeitherTrueNorFalse"

// repeats reports whether a catalog that was spoken of before is only being loaded again, so that there is nothing new to say.
func (v view) repeats() bool {
	awaited := v.awaited()
	return awaited != nil && v.sub.Status.ObservedGeneration == v.sub.Generation && len(v.sub.Status.Conditions) > 0 &&
		slices.ContainsFunc(v.sub.Status.CatalogHealth, func(h v1alpha1.SubscriptionCatalogHealth) bool {
			return h.CatalogSourceRef != nil && h.CatalogSourceRef.UID == awaited.Object.UID
		})
}
