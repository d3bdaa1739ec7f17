package installplan

import (
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/content/image"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type planStatus = v1alpha1.InstallPlanStatus

// outcome is what a pass over the steps of a plan came to. Its zero value is that of no pass.
type outcome struct {
	executed bool
	// statuses are those of the steps, in their order.
	statuses []v1alpha1.StepStatus
	// err is why steps could not be done; forbidden is set when the API server denies a permission.
	err       error
	forbidden bool
	// unwritable is set when an object is larger than the API server ever takes.
	unwritable bool
	// lookups are the bundles that had to be read again and are not there, by ClusterServiceVersion.
	lookups map[string]*fetchError
	// signatures are the verdicts on bundles that were verified in this pass, by ClusterServiceVersion.
	signatures map[string]image.Verdict
	// unverified is how far the verification of those is that the pass ended with; accepted where it did not.
	unverified verification
	// away is set when nothing stands in the way but that the API server had no time.
	away bool
	// since is when the series of failures began that the pass belongs to, other than for permissions and bundles.
	since time.Time
	// waiting says what steps wait for, and leftOut which were left out for good.
	waiting string
	leftOut string
	// obstacles are objects that kept steps from being done.
	obstacles []obstacle
	// warnings are what the API server said besides, by step.
	warnings map[int][]string
}

// decide says what becomes of a plan before anything is done, and whether a pass is due.
func decide(plan *v1alpha1.InstallPlan, seen observation, now time.Time) (next planStatus, execute bool) {
	next = *plan.Status.DeepCopy()
	if len(next.Plan) > 0 && next.GetCondition(v1alpha1.InstallPlanResolved).Status == corev1.ConditionFalse {
		removeCondition(&next, v1alpha1.InstallPlanResolved)
	}
	switch next.Phase {
	case v1alpha1.InstallPlanPhaseComplete:
		return next, false
	case v1alpha1.InstallPlanPhaseFailed:
		if !seen.nudged || next.AttenuatedServiceAccountRef == nil {
			return next, false
		}
		next.StartTime = nil
		removeCondition(&next, v1alpha1.InstallPlanInstalled)
	}
	// Whether nothing of the plan may be done before it is approved. An approval that is withdrawn after that comes too late.
	awaitsApproval := !isApproved(plan) && next.StartTime == nil
	if seen.problem != "" {
		next.Message = "attenuated service account query failed - " + seen.problem
		setInstalled(&next, v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanInstalled, v1alpha1.InstallPlanReasonInstallCheckFailed, next.Message), now)
		if next.Phase = v1alpha1.InstallPlanPhaseRequiresApproval; !awaitsApproval {
			next.Phase = v1alpha1.InstallPlanPhaseInstalling
		}
		return next, false
	}
	if next.GetCondition(v1alpha1.InstallPlanInstalled).Reason == v1alpha1.InstallPlanReasonInstallCheckFailed {
		next.Message = ""
		removeCondition(&next, v1alpha1.InstallPlanInstalled)
	}
	next.AttenuatedServiceAccountRef = seen.account
	if awaitsApproval {
		next.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
		return next, false
	}
	next.Phase = v1alpha1.InstallPlanPhaseInstalling
	if next.StartTime == nil {
		next.StartTime = new(metav1.NewTime(now))
	}
	return next, true
}

// conclude says what becomes of a plan after a pass. The time that errors are given runs from the first of a series of them: a plan
// that waited for long, for a permission or an API, is not given up at the first hiccup after that.
func conclude(next planStatus, done outcome, now time.Time, timeout time.Duration) planStatus {
	for i, status := range done.statuses {
		next.Plan[i].Status = status
	}
	for i := range next.BundleLookups { // say of every bundle whether it is being read again
		l := &next.BundleLookups[i]
		var wanted []v1alpha1.BundleLookupCondition
		if e, ok := done.lookups[l.Identifier]; ok {
			if c, pending := e.condition(); pending {
				wanted = append(wanted, c)
			}
		}
		setConditions(l, wanted, metav1.NewTime(now), v1alpha1.BundleLookupPending, v1alpha1.BundleLookupFailed, v1alpha1.BundleLookupNotPersisted)
	}
	concludeSignatures(&next, done, now)
	switch {
	case done.err == nil && done.waiting == "":
		next.Phase, next.Message = v1alpha1.InstallPlanPhaseComplete, done.leftOut
		setInstalled(&next, v1alpha1.NewInstallPlanMet(v1alpha1.InstallPlanInstalled), now)
	case done.err == nil:
		next.Message = waits + done.waiting
	case done.unwritable:
		next.Phase, next.Message = v1alpha1.InstallPlanPhaseFailed, done.err.Error()
		setInstalled(&next, v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanInstalled, v1alpha1.InstallPlanReasonContentInvalid, next.Message), now)
	case done.isPatient() || now.Sub(done.since) < done.timeout(timeout):
		next.Message = "retrying execution due to error: " + done.err.Error()
	default:
		next.Phase, next.Message = v1alpha1.InstallPlanPhaseFailed, done.err.Error()
		setInstalled(&next, v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanInstalled, v1alpha1.InstallPlanReasonComponentFailed, next.Message), now)
	}
	return next
}

// pauses between passes that no event asks for. Most of what a plan waits for is watched; these are for what is not, such as
// webhooks that refuse for a while, or permissions that do not come from RBAC objects.
const (
	shortestPause  = 250 * time.Millisecond
	longestPause   = 5 * time.Second
	forbiddenPause = 30 * time.Second
	awayPause      = 30 * time.Second
)

// retryAfter says when a plan that is not finished is checked again; 0 is not before something happens.
func retryAfter(next planStatus, done outcome, now time.Time, timeout time.Duration) time.Duration {
	if !done.executed || next.Phase != v1alpha1.InstallPlanPhaseInstalling {
		return 0
	}
	if done.forbidden {
		return forbiddenPause
	}
	if at := done.refetch(); !at.IsZero() {
		return max(at.Sub(now), time.Second)
	}
	if next.StartTime == nil { // its bundles are being verified
		return longestPause
	}
	if done.err == nil {
		return min(max(now.Sub(next.StartTime.Time)/4, shortestPause), longestPause)
	}
	if done.isPatient() { // with a bundle that is on its way, whose arrival brings the plan back sooner
		return forbiddenPause
	}
	elapsed, longest := now.Sub(done.since), longestPause
	if done.away {
		longest = awayPause
	}
	// The last attempt is made when the time is up.
	return min(max(elapsed/4, shortestPause), longest, done.timeout(timeout)-elapsed)
}

// setInstalled sets the condition when it says something new.
func setInstalled(s *planStatus, c v1alpha1.InstallPlanCondition, now time.Time) {
	c.Message = safetext.Fit(c.Message, maxMessage) // as it is written: else each pass would write it again
	if !s.GetCondition(c.Type).Equals(c) {
		s.SetCondition(c, metav1.NewTime(now))
	}
}

func removeCondition(s *planStatus, kind v1alpha1.InstallPlanConditionType) {
	var kept []v1alpha1.InstallPlanCondition
	for _, c := range s.Conditions {
		if c.Type != kind {
			kept = append(kept, c)
		}
	}
	s.Conditions = kept
}
