package clusterobjectset

import (
	"cmp"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// judge adds the verdict on a set to what its other conditions say. A set is asked to be active or archived, and is ready when it is.
func judge(set *olmv1.ClusterObjectSet, now time.Time) {
	verdict := verdictOf(set)
	verdict.Message = messages.Brief(verdict.Message)
	set.Status.ObservedGeneration = set.Generation
	verdict.Set(&set.Status.Conditions, set.Generation, metav1.NewTime(now.Truncate(time.Second)))
}

func verdictOf(set *olmv1.ClusterObjectSet) reconcile.Verdict {
	progressing := cmp.Or(meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeProgressing), &metav1.Condition{Reason: olmv1.ReasonReconciling})
	available := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeAvailable)
	switch {
	case progressing.Reason == olmv1.ReasonArchived:
		return reconcile.Done(olmv1.ReasonArchived, progressing.Message)
	case progressing.Status == metav1.ConditionFalse:
		return reconcile.Stalled(progressing.Reason, progressing.Message)
	case revision.Collides(progressing):
		return reconcile.Stalled(revision.ReasonCollision, progressing.Message)
	case progressing.Reason != olmv1.ReasonSucceeded || available == nil:
		return reconcile.Progressing(progressing.Reason, progressing.Message)
	case available.Status != metav1.ConditionTrue:
		return reconcile.Progressing(available.Reason, available.Message)
	}
	return reconcile.Done(olmv1.ReasonSucceeded, available.Message)
}
