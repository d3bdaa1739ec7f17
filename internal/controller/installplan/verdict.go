package installplan

import (
	"cmp"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/reconcile"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// verdictOn is the verdict on a plan with that status: it is ready when all steps are done. A plan that failed is not carried out again, and one that
// waits for approval has neither failed nor continues.
func verdictOn(s *planStatus) reconcile.Verdict {
	installed, resolved := s.GetCondition(v1alpha1.InstallPlanInstalled), s.GetCondition(v1alpha1.InstallPlanResolved)
	verdict := reconcile.Progressing(cmp.Or(string(s.Phase), "Pending"), cmp.Or(s.Message, "the steps of the plan are not written yet"))
	switch {
	case s.Phase == v1alpha1.InstallPlanPhaseComplete:
		verdict = reconcile.Done(string(s.Phase), cmp.Or(s.Message, "all steps are done"))
	case s.Phase == v1alpha1.InstallPlanPhaseFailed:
		verdict = reconcile.Stalled(cmp.Or(string(installed.Reason), string(s.Phase)), s.Message)
	case s.Phase == v1alpha1.InstallPlanPhaseRequiresApproval:
		verdict = reconcile.Held(string(s.Phase), cmp.Or(s.Message, "set spec.approved to true to have the plan carried out"))
	case resolved.Status == corev1.ConditionFalse && resolved.Reason == v1alpha1.InstallPlanReasonDependencyConflict:
		verdict = reconcile.Stalled(string(resolved.Reason), s.Message)
	case resolved.Status == corev1.ConditionFalse:
		verdict = reconcile.Progressing(cmp.Or(string(resolved.Reason), string(s.Phase)), s.Message)
	case installed.Status == corev1.ConditionFalse:
		verdict = reconcile.Progressing(cmp.Or(string(installed.Reason), string(s.Phase)), s.Message)
	case s.Phase == v1alpha1.InstallPlanPhaseInstalling:
		verdict = reconcile.Progressing(string(s.Phase), cmp.Or(s.Message, "the plan is being carried out"))
	}
	verdict.Message = safetext.Fit(verdict.Message, maxLookupMessage)
	return verdict
}

// withVerdict is a status with the verdict on it, for a generation of the plan. Conditions keep their times where they say the same.
func withVerdict(s planStatus, generation int64, now metav1.Time) planStatus {
	s.ObservedGeneration, s.Conditions = generation, slices.Clone(s.Conditions)
	holds := verdictOn(&s).Conditions()
	for _, kind := range reconcile.VerdictTypes {
		if !slices.ContainsFunc(holds, func(c metav1.Condition) bool { return c.Type == kind }) {
			removeCondition(&s, v1alpha1.InstallPlanConditionType(kind))
		}
	}
	for _, c := range holds {
		condition := v1alpha1.InstallPlanCondition{Type: v1alpha1.InstallPlanConditionType(c.Type), Status: corev1.ConditionStatus(c.Status),
			Reason: v1alpha1.InstallPlanConditionReason(c.Reason), Message: c.Message}
		if !s.GetCondition(condition.Type).Equals(condition) {
			s.SetCondition(condition, now)
		}
	}
	return s
}

// isJudged reports whether the status of a plan has the verdict on it.
func isJudged(plan *v1alpha1.InstallPlan) bool {
	return equality.Semantic.DeepEqual(plan.Status, withVerdict(plan.Status, plan.Generation, metav1.Time{}))
}
