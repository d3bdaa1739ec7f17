package clusterobjectset

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// states are the reasons of the condition Progressing.
var states = []string{olmv1.ReasonRollingOut, olmv1.ReasonSucceeded, olmv1.ReasonRetrying, olmv1.ReasonBlocked, olmv1.ReasonProgressDeadlineExceeded, olmv1.ReasonArchived}

// measure counts a set as it stands after a pass, and how long it took if it has been rolled out in that.
func (c *Controller) measure(before, set *olmv1.ClusterObjectSet) {
	if !hasSucceeded(before) && hasSucceeded(set) {
		c.metrics.RolledOut(c.clock.Now().Sub(set.CreationTimestamp.Time))
	}
	progressing := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeProgressing)
	if progressing == nil {
		return
	}
	state := progressing.Reason
	active := revision.Active(set)
	if !active && state != olmv1.ReasonArchived {
		state = metrics.StateGoing
	}
	available := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeAvailable)
	failing := active && available != nil && available.Status == metav1.ConditionFalse && available.Reason == olmv1.ReasonProbeFailure
	c.metrics.Observe(set.Name, state, failing, hasSucceeded(set))
}
