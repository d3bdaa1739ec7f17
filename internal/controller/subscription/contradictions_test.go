package subscription

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
)

// forbidden are pairs of conditions that cannot both be True, unless the first has the reason.
var forbidden = []struct {
	one, other v1alpha1.SubscriptionConditionType
	unless     string
}{
	{v1alpha1.SubscriptionBundleUnpacking, v1alpha1.SubscriptionBundleUnpackFailed, ""},
	{v1alpha1.SubscriptionBundleUnpacking, v1alpha1.SubscriptionResolutionFailed, ""},
	{v1alpha1.SubscriptionBundleUnpackFailed, v1alpha1.SubscriptionResolutionFailed, ""},
	{v1alpha1.SubscriptionInstallPlanPending, v1alpha1.SubscriptionInstallPlanFailed, ""},
	{v1alpha1.SubscriptionInstallPlanPending, v1alpha1.SubscriptionInstallPlanMissing, ""},
	{v1alpha1.SubscriptionInstallPlanFailed, v1alpha1.SubscriptionInstallPlanMissing, ""},
	{readyCondition, stalledCondition, ""},
	{readyCondition, v1alpha1.SubscriptionResolutionFailed, ""},
	{readyCondition, v1alpha1.SubscriptionInstallPlanFailed, ""},
	{readyCondition, v1alpha1.SubscriptionBundleUnpacking, ""},
	{readyCondition, v1alpha1.SubscriptionBundleUnpackFailed, ""},
	{readyCondition, v1alpha1.SubscriptionInstallPlanPending, "RequiresApproval"},
}

// contradictions lists what does not go together in a status, and what is missing in it.
func contradictions(sub *v1alpha1.Subscription) []string {
	s := &sub.Status
	is := func(t v1alpha1.SubscriptionConditionType) bool {
		return s.GetCondition(t).Status == corev1.ConditionTrue
	}
	var found []string
	complain := func(format string, args ...any) {
		found = append(found, fmt.Sprintf("Subscription %s: "+format+"\nits status: %+v", append(append([]any{sub.Name}, args...), *s)...))
	}
	for _, pair := range forbidden {
		if is(pair.one) && is(pair.other) && (pair.unless == "" || s.GetCondition(pair.one).Reason != pair.unless) {
			complain("%s and %s are both True", pair.one, pair.other)
		}
	}
	ready := s.GetCondition(readyCondition)
	if ready.Status == corev1.ConditionUnknown || ready.Reason == "" || ready.Message == "" {
		complain("there is no verdict, or none with a reason")
	}
	if is(stalledCondition) && s.GetCondition(stalledCondition).Reason != ready.Reason {
		complain("it is stalled for another reason than it is not ready")
	}
	if parts := is(v1alpha1.SubscriptionPackageDeprecated) || is(v1alpha1.SubscriptionChannelDeprecated) || is(v1alpha1.SubscriptionBundleDeprecated); parts != is(v1alpha1.SubscriptionDeprecated) {
		complain("Deprecated does not sum up the others")
	}
	if s.ObservedGeneration != sub.Generation || s.LastUpdated.IsZero() {
		complain("it is of generation %d, and written at %s", s.ObservedGeneration, s.LastUpdated)
	}
	if s.State == v1alpha1.SubscriptionStateAtLatest && s.CurrentCSV != s.InstalledCSV {
		complain("it is at the latest version, and that is not installed")
	}
	if s.State == v1alpha1.SubscriptionStateFailed && !is(v1alpha1.SubscriptionInstallPlanFailed) {
		complain("the upgrade failed without a plan that failed")
	}
	if (s.InstallPlanRef == nil) != (s.Install == nil) || s.InstallPlanRef != nil && (s.InstallPlanRef.Name != s.Install.Name || s.InstallPlanGeneration == 0) {
		complain("the two references to the plan differ")
	}
	for _, c := range s.Conditions {
		if c.LastTransitionTime == nil || c.LastHeartbeatTime == nil || !slices.Contains(owned, c.Type) {
			complain("condition %s has no times, or nobody answers for it", c.Type)
		}
	}
	for _, h := range s.CatalogHealth {
		if h.CatalogSourceRef == nil || h.LastUpdated == nil {
			complain("an entry of catalogHealth is not complete")
		}
	}
	return found
}
