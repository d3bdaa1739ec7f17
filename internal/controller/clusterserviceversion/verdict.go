package clusterserviceversion

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
)

// passing are the reasons of the phase Failed that the table leaves by itself, by installing again. The others stay until something is changed.
var passing = []reason{
	v1alpha1.CSVReasonComponentFailed, v1alpha1.CSVReasonComponentUnhealthy, v1alpha1.CSVReasonNeedsReinstall, v1alpha1.CSVReasonNeedsCertRotation,
	v1alpha1.CSVReasonAPIServiceResourceIssue, v1alpha1.CSVReasonAPIServiceResourcesNeedReinstall, v1alpha1.CSVReasonDetectedClusterChange,
}

// waits begins the message of a ClusterServiceVersion that keeps its phase until something happens that needs no one, as the table has it.
const waits = "waiting for "

// verdictOf is the verdict on a ClusterServiceVersion with that status: it is ready when the operator runs. One that is being replaced is not: it is about
// to go, and its successor is what was asked for.
func verdictOf(s *v1alpha1.ClusterServiceVersionStatus) reconcile.Verdict {
	because, message := cmp.Or(string(s.Reason), "Pending"), messages.Brief(s.Message)
	switch {
	case s.Phase == toSucceeded:
		return reconcile.Done(because, message)
	case s.Phase == toFailed && !slices.Contains(passing, s.Reason) && !strings.HasPrefix(s.Message, waits):
		return reconcile.Stalled(because, message)
	}
	return reconcile.Progressing(because, message)
}

// judge adds the verdict to a status.
func judge(s *v1alpha1.ClusterServiceVersionStatus, generation int64, now metav1.Time) {
	s.ObservedGeneration = generation
	var conditions []v1alpha1.ClusterServiceVersionCondition
	for _, c := range verdictOf(s).Conditions() {
		conditions = append(conditions, v1alpha1.ClusterServiceVersionCondition{Type: c.Type, Status: c.Status, Reason: v1alpha1.ConditionReason(c.Reason), Message: c.Message})
	}
	s.SetTypedConditions(conditions, now)
}
