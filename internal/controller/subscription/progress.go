package subscription

import (
	"cmp"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/plan"
	"fairlead.dev/fairlead/internal/unpack"

	corev1 "k8s.io/api/core/v1"
)

// planConditions tell how far the plan is: at most one of them is there. While an operator is on its way without a plan, or its plan is
// complete but the operator does not run, the vocabulary of plans says that too: tools that know no other conditions would take silence
// for success.
func (v view) planConditions() []v1alpha1.SubscriptionCondition {
	one := func(c v1alpha1.SubscriptionCondition) []v1alpha1.SubscriptionCondition {
		return []v1alpha1.SubscriptionCondition{c}
	}
	history := v.choice == nil && v.decided() && !v.half() // whatever its plan came to, nothing is wanted of it any more
	switch {
	case v.idle != "":
		return nil
	case v.plan != nil && !history && (v.planned() || v.choice == nil):
		if c, some := v1alpha1.NewInstallPlanCondition(&v.plan.Status); some {
			c.Message = tidy(cmp.Or(c.Message, v.plan.Status.Message))
			return one(c)
		}
	case v.choice != nil:
		return one(isTrue(v1alpha1.SubscriptionInstallPlanPending, v1alpha1.SubscriptionReasonInstallPlanNotReconciled, v.unplanned()))
	}
	switch waiting := v.awaited(); {
	case v.installed == nil && waiting != nil:
		return one(isTrue(v1alpha1.SubscriptionInstallPlanPending, v1alpha1.SubscriptionReasonInstallPlanNotReconciled, loading(waiting)))
	case v.failed():
		return one(isTrue(v1alpha1.SubscriptionInstallPlanFailed, string(v1alpha1.InstallPlanReasonInstallCheckFailed), v.notRunning()))
	case v.installed != nil && !v.running():
		return one(isTrue(v1alpha1.SubscriptionInstallPlanPending, string(v1alpha1.InstallPlanPhaseInstalling), v.notRunning()))
	case v.plan == nil && v.sub.Status.InstallPlanRef != nil && v.installed != nil:
		return one(v1alpha1.NewInstallPlanMissingCondition())
	}
	return nil
}

// decisionConditions tell what came of the decision: at most one of them is there.
func (v view) decisionConditions() []v1alpha1.SubscriptionCondition {
	one := func(kind v1alpha1.SubscriptionConditionType, reason, message string) []v1alpha1.SubscriptionCondition {
		return []v1alpha1.SubscriptionCondition{isTrue(kind, reason, message)}
	}
	switch {
	case v.broken != "" || v.idle != "":
		return one(v1alpha1.SubscriptionResolutionFailed, v1alpha1.SubscriptionReasonErrorPreventedResolution, v.broken+v.idle)
	case v.group == nil || v.awaited() != nil:
		return nil
	case v.group.Err != nil:
		return one(v1alpha1.SubscriptionResolutionFailed, resolutionReason(v.group.Err), v.group.Err.Error())
	case v.choice == nil:
		return nil
	case len(v.group.failures) > 0:
		return one(v1alpha1.SubscriptionBundleUnpackFailed, v1alpha1.SubscriptionReasonBundleUnpackFailed, v.group.unpackFailure())
	case len(v.group.fetching) > 0:
		return one(v1alpha1.SubscriptionBundleUnpacking, v1alpha1.SubscriptionReasonUnpackingInProgress, v.group.fetchingText())
	case v.group.problem != "":
		return one(v1alpha1.SubscriptionBundleUnpackFailed, v1alpha1.SubscriptionReasonErrorPreventedUnpacking, v.group.problem)
	case v.group.unwritten != "":
		return one(v1alpha1.SubscriptionBundleUnpackFailed, v1alpha1.SubscriptionReasonEnsureInstallPlanFailed, "error ensuring InstallPlan: "+v.group.unwritten)
	}
	return nil
}

// unpackFailure begins with the kind of the first failure, where the field's tools have the reason of a Job.
func (g *group) unpackFailure() string {
	return fmt.Sprintf("Bundle unpacking failed - %s: %s", unpack.Reason(g.failures[0].err), g.failureText())
}

// Reasons of HeldBack when the annotation with the version range is what holds.
const (
	reasonVersionRange        = "VersionRange"
	reasonVersionRangeInvalid = "VersionRangeInvalid"
)

// named gives what is held back by the Subscription's own version range a reason of its own.
func (v view) named(held []v1alpha1.SubscriptionCondition) []v1alpha1.SubscriptionCondition {
	if h := v.heldByRange(); h != nil {
		held[0].Reason = reasonVersionRange
		if h.Wanted == "" {
			held[0].Reason = reasonVersionRangeInvalid
		}
	}
	return held
}

// heldByRange is what the Subscription's own version range holds back; nil when that is nothing.
func (v view) heldByRange() *plan.Held {
	held := v.held()
	i := slices.IndexFunc(held, func(h plan.Held) bool { return h.Field == plan.FieldVersionRange })
	if i < 0 {
		return nil
	}
	return &held[i]
}

// repeats tells whether a catalog that was spoken of before is only being loaded again, so that there is nothing new to say.
func (v view) repeats() bool {
	awaited := v.awaited()
	return awaited != nil && v.sub.Status.ObservedGeneration == v.sub.Generation && len(v.sub.Status.Conditions) > 0 &&
		slices.ContainsFunc(v.sub.Status.CatalogHealth, func(h v1alpha1.SubscriptionCatalogHealth) bool {
			return h.CatalogSourceRef != nil && h.CatalogSourceRef.UID == awaited.Object.UID
		})
}

// repeated are the conditions that follow from the catalog, as they were. The verdict is found again when the operator has changed
// meanwhile.
func (v view) repeated() []v1alpha1.SubscriptionCondition {
	var kept []v1alpha1.SubscriptionCondition
	same := (v.sub.Status.GetCondition(readyCondition).Status == corev1.ConditionTrue) == v.running()
	for _, c := range v.sub.Status.Conditions {
		verdict := c.Type == readyCondition || c.Type == stalledCondition
		ofPlan := c.Type == v1alpha1.SubscriptionInstallPlanMissing || c.Type == v1alpha1.SubscriptionInstallPlanPending || c.Type == v1alpha1.SubscriptionInstallPlanFailed
		if slices.Contains(owned, c.Type) && !ofPlan && (same || !verdict) {
			kept = append(kept, c)
		}
	}
	if !same {
		kept = append(kept, v.ready()...)
	}
	return kept
}
