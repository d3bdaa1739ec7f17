package subscription

import (
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
)

// repeats tells whether a catalog that was spoken of before is only being loaded again, so that there is nothing new to say.
func (v view) repeats() bool {
	awaited := v.awaited()
	return awaited != nil && v.sub.Status.ObservedGeneration == v.sub.Generation && len(v.sub.Status.Conditions) > 0 &&
		slices.ContainsFunc(v.sub.Status.CatalogHealth, func(h v1alpha1.SubscriptionCatalogHealth) bool {
			return h.CatalogSourceRef != nil && h.CatalogSourceRef.UID == awaited.Object.UID
		})
}

// repeated are the conditions that follow from the catalog, as they were. The verdict is found again, unless it follows from one of them
// or says that all is well, as it did.
func (v view) repeated() []v1alpha1.SubscriptionCondition {
	was := func(t v1alpha1.SubscriptionConditionType) bool {
		return v.sub.Status.GetCondition(t).Status == corev1.ConditionTrue
	}
	trouble := was(v1alpha1.SubscriptionResolutionFailed) || was(v1alpha1.SubscriptionBundleUnpacking) || was(v1alpha1.SubscriptionBundleUnpackFailed)
	anew := !trouble && !(was(readyCondition) && v.verdict().ready)
	var kept []v1alpha1.SubscriptionCondition
	for _, c := range v.sub.Status.Conditions {
		switch c.Type {
		case v1alpha1.SubscriptionInstallPlanMissing, v1alpha1.SubscriptionInstallPlanPending, v1alpha1.SubscriptionInstallPlanFailed, misreadCondition:
			continue // found anew
		case readyCondition, stalledCondition:
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
	return kept
}
