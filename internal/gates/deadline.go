package gates

import olmv1 "fairlead.dev/fairlead/api/olm/v1"

const (
	// OnFailureKey is the annotation of a ClusterExtension that, set to OnFailureRollback, goes back to what was installed when the rollout of an
	// upgrade fails.
	OnFailureKey      = prefix + "on-failure"
	OnFailureRollback = "rollback"
	// RollbackDeadlineMinutes is the progress deadline of an extension that goes back when a rollout fails and sets none itself: without one, a
	// rollout that is stuck would never count as failed. A Deployment allows itself 10 minutes; images may take a few more to arrive.
	RollbackDeadlineMinutes = 15
)

// GoesBack reports whether an extension goes back when a rollout fails.
func GoesBack(ext *olmv1.ClusterExtension) bool {
	return ext.Annotations[OnFailureKey] == OnFailureRollback
}

// ProgressDeadlineMinutes returns how long a rollout of an extension may take before it counts as failed; 0 is no limit.
func ProgressDeadlineMinutes(ext *olmv1.ClusterExtension) int32 {
	if ext.Spec.ProgressDeadlineMinutes == 0 && GoesBack(ext) {
		return RollbackDeadlineMinutes
	}
	return ext.Spec.ProgressDeadlineMinutes
}
