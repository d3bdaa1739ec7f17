package clusterserviceversion

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// report adds to the status what a pass found out besides the state, and reports whether there is anything to write.
func report(before, after *v1alpha1.ClusterServiceVersionStatus, seen *snapshot, now metav1.Time) bool {
	if checked := seen.requirementsRead; checked.known {
		after.RequirementStatus = checked.value.rows
	}
	// When the first certificate is due for renewal; zero when there is none.
	var first time.Time
	for _, c := range seen.certificatesRead.value {
		if at, err := c.Current.RotateAt(); err == nil && c.held == nil && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if !first.IsZero() {
		rotate := metav1.NewTime(first).Rfc3339Copy()
		after.CertsRotateAt = &rotate
	}
	if seen.done.issued || after.CertsRotateAt != nil && after.CertsLastUpdated == nil {
		after.CertsLastUpdated = now.DeepCopy()
	}
	if equality.Semantic.DeepEqual(before, after) {
		return false
	}
	after.LastUpdateTime = now.DeepCopy()
	return true
}
