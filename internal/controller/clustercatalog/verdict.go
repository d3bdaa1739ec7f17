package clustercatalog

import (
	"cmp"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/reconcile"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// judge adds the verdict on a catalog to what else is reported of it. Ready is for the content of the spec as it is now. Once that was served, a
// registry that does not answer takes nothing away: the last good content is what the catalog asks for, as far as it is known.
func judge(object *olmv1.ClusterCatalog, r report, next *olmv1.ClusterCatalogStatus, now time.Time) {
	verdict := verdictOf(object, r, next)
	next.ObservedGeneration = object.Generation
	verdict.Set(&next.Conditions, object.Generation, metav1.NewTime(now.Truncate(time.Second)))
}

func verdictOf(object *olmv1.ClusterCatalog, r report, next *olmv1.ClusterCatalogStatus) reconcile.Verdict {
	progressing := cmp.Or(meta.FindStatusCondition(next.Conditions, olmv1.TypeProgressing), &metav1.Condition{Reason: olmv1.ReasonReconciling})
	serving := meta.FindStatusCondition(next.Conditions, olmv1.TypeServing)
	before := meta.FindStatusCondition(object.Status.Conditions, reconcile.TypeReady)
	served := r.known.index != nil && before != nil && before.Status == metav1.ConditionTrue && object.Status.ObservedGeneration == object.Generation
	switch {
	case object.Spec.AvailabilityMode == olmv1.AvailabilityModeUnavailable:
		return reconcile.Done(olmv1.ReasonUserSpecifiedUnavailable, messageUnavailable)
	case progressing.Status == metav1.ConditionFalse:
		return reconcile.Stalled(progressing.Reason, progressing.Message)
	case r.known.reached && serving != nil && serving.Status == metav1.ConditionTrue:
		return reconcile.Done(serving.Reason, serving.Message)
	case served && r.known.problem != nil:
		return reconcile.Done(olmv1.ReasonAvailable, messageLastGood+"; "+progressing.Message)
	case served: // a new manager serves what the one before has left, and reads it again
		return reconcile.Done(before.Reason, before.Message)
	case progressing.Reason == olmv1.ReasonSucceeded: // of another spec
		return reconcile.Progressing(olmv1.ReasonReconciling, "the content that the spec asks for is being read")
	}
	return reconcile.Progressing(progressing.Reason, progressing.Message)
}
