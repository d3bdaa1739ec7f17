package subscription

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/resolve"
)

// planConditions tell how far the plan is: at most one of them is there. While an operator is on its way without a plan, or its plan is
// complete but the operator does not run, the vocabulary of plans says that too: tools that know no other conditions would take silence
// for success.
func (v view) planConditions() []v1alpha1.SubscriptionCondition {
	one := func(c v1alpha1.SubscriptionCondition) []v1alpha1.SubscriptionCondition {
		return []v1alpha1.SubscriptionCondition{c}
	}
	switch {
	case v.idle != "":
		return nil
	case isIn(v1alpha1.CSVPhaseFailed, v.installed) && v.plan != nil && v.plan.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval: // until a user approves what comes next, what runs counts
	case v.planned() || v.pending() || v.partiallyInstalled(): // of any other plan nothing is desired any more
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
	case isIn(v1alpha1.CSVPhaseFailed, v.installed):
		return one(isTrue(v1alpha1.SubscriptionInstallPlanFailed, string(v1alpha1.InstallPlanReasonInstallCheckFailed), v.notRunning()))
	case v.installed != nil && !isIn(v1alpha1.CSVPhaseSucceeded, v.installed):
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
	case errors.As(v.group.Err, new(*resolve.Unsatisfiable)):
		return one(v1alpha1.SubscriptionResolutionFailed, v1alpha1.SubscriptionReasonConstraintsNotSatisfiable, v.group.Err.Error())
	case v.group.Err != nil: // it could not be solved, which is not to say that there is no solution
		return one(v1alpha1.SubscriptionResolutionFailed, v1alpha1.SubscriptionReasonErrorPreventedResolution, v.group.Err.Error())
	case v.group.unwritten != "":
		return one(v1alpha1.SubscriptionBundleUnpackFailed, v1alpha1.SubscriptionReasonEnsureInstallPlanFailed, "error ensuring InstallPlan: "+v.group.unwritten)
	case v.choice == nil:
		return nil
	case len(v.group.failures) > 0: // the message begins with the kind of the first failure, where the field's tools have the reason of a Job
		return one(v1alpha1.SubscriptionBundleUnpackFailed, v1alpha1.SubscriptionReasonBundleUnpackFailed,
			fmt.Sprintf("Bundle unpacking failed - %s: %s", bundleio.ReasonOf(v.group.failures[0].err), v.group.failureText()))
	case len(v.group.fetching) > 0:
		return one(v1alpha1.SubscriptionBundleUnpacking, v1alpha1.SubscriptionReasonUnpackingInProgress, "fetching "+strings.Join(v.group.fetching, ", "))
	case v.group.problem != "":
		return one(v1alpha1.SubscriptionBundleUnpackFailed, v1alpha1.SubscriptionReasonErrorPreventedUnpacking, v.group.problem)
	}
	return nil
}
