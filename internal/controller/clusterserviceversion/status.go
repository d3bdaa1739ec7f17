package clusterserviceversion

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// report adds to the status what a pass found out besides the state, and says whether there is anything to write.
func report(before, after *v1alpha1.ClusterServiceVersionStatus, seen *facts, now metav1.Time) bool {
	if seen.requirements != nil {
		after.RequirementStatus = seen.requirements.rows
	}
	if at := seen.certificates.rotateAt(); !at.IsZero() {
		rotate := metav1.NewTime(at).Rfc3339Copy()
		after.CertsRotateAt = &rotate
	}
	if seen.issued || after.CertsRotateAt != nil && after.CertsLastUpdated == nil {
		after.CertsLastUpdated = now.DeepCopy()
	}
	if equality.Semantic.DeepEqual(before, after) {
		return false
	}
	after.LastUpdateTime = now.DeepCopy()
	return true
}
