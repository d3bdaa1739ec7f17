package rollout

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"fairlead.dev/fairlead/test/must"
)

// TestWorkloadHealth is the table of what the status of a workload means, for both APIs: as its Go type, and as an unstructured object.
func TestWorkloadHealth(t *testing.T) {
	const up = `conditions: [{type: Available, status: "True"}]`
	const down = `conditions: [{type: Available, status: "False", reason: MinimumReplicasUnavailable, message: too few}]`
	tests := map[string]struct {
		kind, live string // the kind is a Deployment unless it is given
		cause      string
		desired    string // replicas
		state      State
		message    string
	}{
		"available":                {live: `status: {` + up + `}`},
		"available in part":        {live: `spec: {replicas: 2}, status: {replicas: 2, updatedReplicas: 2, availableReplicas: 1, ` + up + `}`},
		"nothing yet":              {live: `status: {}`, state: Unready, message: "no pod is available yet"},
		"not available":            {live: `status: {` + down + `}`, state: Unready, message: "too few"},
		"not available, no reason": {live: `status: {conditions: [{type: Available, status: "False"}]}`, state: Unready, message: "it is not available"},
		"old pods":                 {live: `status: {replicas: 3, updatedReplicas: 1, ` + up + `}`, state: Unready, message: "2 old replicas are pending termination"},
		"no quota": {live: `status: {conditions: [{type: Available, status: "True"}, {type: ReplicaFailure, status: "True", message: exceeded quota}]}`,
			state: Unready, message: "exceeded quota"},
		"given up": {live: `status: {conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: timed out}]}`,
			state: Stuck, message: "timed out"},
		"given up, although old pods serve": {live: `status: {conditions: [{type: Available, status: "True"}, {type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}`,
			state: Stuck, message: "ProgressDeadlineExceeded"},
		"given up, before the last change": {live: `metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}`,
			state: Unobserved, message: "rollout not yet observed"},
		"not observed":  {live: `metadata: {generation: 2}, status: {observedGeneration: 1, ` + up + `}`, state: Unobserved, message: "rollout not yet observed"},
		"being deleted": {live: `metadata: {generation: 2, deletionTimestamp: "2030-01-01T00:00:00Z"}, status: {` + up + `}`, state: Terminating, message: "it is being deleted"},

		"scaled to zero": {live: `metadata: {name: m}, spec: {replicas: 0}, status: {` + up + `}`, state: ScaledToZero, message: "Deployment m is scaled to 0 replicas; scale it up again"},
		"scaled to zero from two": {live: `metadata: {name: m}, spec: {replicas: 0}, status: {` + up + `}`, desired: "2", state: ScaledToZero,
			message: "Deployment m is scaled to 0 replicas; scale it up again"},
		"zero as desired":     {live: `spec: {replicas: 0}, status: {` + up + `}`, desired: "0"},
		"scaled up from zero": {live: `spec: {replicas: 3}, status: {` + up + `}`, desired: "0"},

		"stateful":                 {kind: "StatefulSet", live: `spec: {replicas: 2}, status: {updatedReplicas: 2, readyReplicas: 2}`},
		"stateful, starting":       {kind: "StatefulSet", live: `spec: {replicas: 2}, status: {updatedReplicas: 2, readyReplicas: 1}`, state: Unready, message: "1 of 2 replicas are ready"},
		"stateful, rolling":        {kind: "StatefulSet", live: `status: {readyReplicas: 1}`, state: Unready, message: "0 of 1 replicas are updated"},
		"stateful, by hand":        {kind: "StatefulSet", live: `spec: {replicas: 2, updateStrategy: {type: OnDelete}}, status: {readyReplicas: 2}`},
		"stateful, by hand, down":  {kind: "StatefulSet", live: `spec: {replicas: 2, updateStrategy: {type: OnDelete}}, status: {readyReplicas: 1}`, state: Unready, message: "1 of 2 replicas are ready"},
		"stateful, in part":        {kind: "StatefulSet", live: `spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}}, status: {updatedReplicas: 1, readyReplicas: 3}`},
		"stateful, in part, early": {kind: "StatefulSet", live: `spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 1}}}, status: {updatedReplicas: 1, readyReplicas: 3}`, state: Unready, message: "1 of 2 replicas are updated"},
		"stateful, not observed":   {kind: "StatefulSet", live: `metadata: {generation: 2}, status: {updatedReplicas: 1, readyReplicas: 1}`, state: Unobserved, message: "rollout not yet observed"},
		"stateful, scaled to zero": {kind: "StatefulSet", live: `metadata: {name: m}, spec: {replicas: 0}`, state: ScaledToZero, message: "StatefulSet m is scaled to 0 replicas; scale it up again"},

		"a cause": {live: `status: {` + down + `}`, cause: "pod p cannot be scheduled", state: Unready, message: "pod p cannot be scheduled; too few"},
		"a cause of an upgrade": {live: `status: {replicas: 2, updatedReplicas: 1, ` + up + `}`, cause: "image cannot be pulled", state: Unready,
			message: "image cannot be pulled; 1 old replicas are pending termination"},
		"given up, for lack of quota": {live: `status: {conditions: [{type: ReplicaFailure, status: "True", message: exceeded quota}, {type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: timed out}]}`,
			state: Stuck, message: "exceeded quota; timed out"},
		"a cause of a stateful one": {kind: "StatefulSet", live: `status: {}`, cause: "no node", state: Unready, message: "no node; 0 of 1 replicas are updated"},
		"a cause of a healthy one":  {live: `status: {` + up + `}`, cause: "no node"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.kind == "" {
				tc.kind = "Deployment"
			}
			header := `{apiVersion: apps/v1, kind: ` + tc.kind + `, `
			live, desired := object(t, header+tc.live+`}`), object(t, header+`spec: {}}`)
			if tc.desired != "" {
				desired = object(t, header+`spec: {replicas: `+tc.desired+`}}`)
			}
			var got Health
			if tc.kind == "Deployment" {
				is, should := &appsv1.Deployment{}, &appsv1.Deployment{}
				convert(t, live, is)
				convert(t, desired, should)
				got = DeploymentHealth(should, is, tc.cause)
			} else {
				is, should := &appsv1.StatefulSet{}, &appsv1.StatefulSet{}
				convert(t, live, is)
				convert(t, desired, should)
				got = StatefulSetHealth(should, is, tc.cause)
			}
			if got.State != tc.state || got.Message != tc.message || (got.Reason == "") != (got.State == Healthy) {
				t.Errorf("%+v, want %d %q", got, tc.state, tc.message)
			}
			if tc.cause == "" {
				judge := Judge{Reader: newCluster(t), Clock: clock.RealClock{}}
				must.Equal(t, "the probe waits", WorkloadProbe(t.Context(), desired, judge, func(Health) {})(live), tc.message)
			}
		})
	}
	if DeploymentHealth(nil, nil, "").State != Missing || StatefulSetHealth(nil, nil, "").State != Missing {
		t.Error("a workload that does not exist is not missing")
	}
	if WorkloadProbe(t.Context(), configMap("a", "1"), Judge{}, nil) != nil {
		t.Error("a ConfigMap has the health of a workload")
	}
}

func convert(t *testing.T, from *unstructured.Unstructured, to any) {
	t.Helper()
	must.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, to))
}
