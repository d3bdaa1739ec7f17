package rollout

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// TestWorkloadHealth is the table of what the status of a workload means, for both APIs: as its Go type, and as an unstructured object.
func TestWorkloadHealth(t *testing.T) {
	const up = `conditions: [{type: Available, status: "True"}]`
	const down = `conditions: [{type: Available, status: "False", reason: MinimumReplicasUnavailable, message: too few}]`
	pod := func(status string) string { return `{metadata: {name: p}, status: ` + status + `}` }
	tests := map[string]struct {
		kind, live string // the kind is a Deployment unless it is given
		pods       []string
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

		"image": {live: `status: {` + down + `}`, pods: []string{pod(`{phase: Running}`), pod(`{containerStatuses: [{name: c, image: reg/op:v1, state: {waiting: {reason: ErrImagePull}}}]}`)},
			state: Unready, message: "too few; container c of pod p: image reg/op:v1 cannot be pulled"},
		"crash loop": {live: `status: {` + down + `}`, pods: []string{pod(`{containerStatuses: [{name: c, state: {waiting: {reason: CrashLoopBackOff, message: back-off 5m0s}}, lastState: {terminated: {exitCode: 2, reason: Error}}}]}`)},
			state: Unready, message: "too few; container c of pod p keeps exiting with code 2 (Error)"},
		"crash loop, running again": {live: `status: {` + down + `}`, pods: []string{pod(`{containerStatuses: [{name: c, state: {running: {}}, lastState: {terminated: {exitCode: 2, reason: Error}}}]}`)},
			state: Unready, message: "too few; container c of pod p keeps exiting with code 2 (Error)"},
		"restarted once, ready now": {live: `status: {` + down + `}`, pods: []string{pod(`{containerStatuses: [{name: c, ready: true, lastState: {terminated: {exitCode: 2}}}]}`)},
			state: Unready, message: "too few"},
		"no node": {kind: "StatefulSet", live: `status: {}`, pods: []string{pod(`{conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: 0/3 nodes are available}]}`)},
			state: Unready, message: "0 of 1 replicas are updated; pod p cannot be scheduled: 0/3 nodes are available"},
		"no configuration": {live: `status: {` + down + `}`, pods: []string{pod(`{initContainerStatuses: [{name: i, state: {waiting: {reason: CreateContainerConfigError, message: secret "s" not found}}}]}`)},
			state: Unready, message: `too few; container i of pod p: CreateContainerConfigError: secret "s" not found`},
		"pods of a healthy one": {live: `status: {` + up + `}`, pods: []string{pod(`{containerStatuses: [{name: c, state: {waiting: {reason: ErrImagePull}}}]}`)}},
		"pod that goes": {live: `status: {` + down + `}`, pods: []string{`{metadata: {name: p, deletionTimestamp: "2030-01-01T00:00:00Z"}, status: {containerStatuses: [{name: c, state: {waiting: {reason: ErrImagePull}}}]}}`},
			state: Unready, message: "too few"},
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
			pods := make([]corev1.Pod, len(tc.pods))
			for i, text := range tc.pods {
				convert(t, object(t, text), &pods[i])
			}
			var got Health
			if tc.kind == "Deployment" {
				is, should := &appsv1.Deployment{}, &appsv1.Deployment{}
				convert(t, live, is)
				convert(t, desired, should)
				got = DeploymentHealth(should, is, pods)
			} else {
				is, should := &appsv1.StatefulSet{}, &appsv1.StatefulSet{}
				convert(t, live, is)
				convert(t, desired, should)
				got = StatefulSetHealth(should, is, pods)
			}
			if got.State != tc.state || got.Message != tc.message || (got.Reason == "") != (got.State == Healthy) {
				t.Errorf("%+v, want %d %q", got, tc.state, tc.message)
			}
			must.Equal(t, "the probe waits", WorkloadProbe(desired, func(client.Object) []corev1.Pod { return pods })(live), tc.message)
		})
	}
	if DeploymentHealth(nil, nil, nil).State != Missing || StatefulSetHealth(nil, nil, nil).State != Missing {
		t.Error("a workload that does not exist is not missing")
	}
	if WorkloadProbe(configMap("a", "1"), nil) != nil {
		t.Error("a ConfigMap has the health of a workload")
	}
}

func convert(t *testing.T, from *unstructured.Unstructured, to any) {
	t.Helper()
	must.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, to))
}

// TestPodsAreListedLate: a workload that has only just become unready is not asked about, and one whose pods cannot be listed has none.
func TestPodsAreListedLate(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	labels := map[string]string{"app": "op"}
	live := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "op"}, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}}}
	c := newCluster(t)
	for name, set := range map[string]map[string]string{"b": labels, "a": labels, "other": {"app": "other"}} {
		must.NoError(t, c.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: set}}))
	}
	for age, want := range map[time.Duration]int{0: 0, podsDelay - time.Second: 0, podsDelay: 2} {
		for _, isNew := range []bool{true, false} {
			d := live.DeepCopy()
			if isNew {
				d.CreationTimestamp = metav1.NewTime(now.Add(-age))
			} else {
				d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, LastTransitionTime: metav1.NewTime(now.Add(-age))}}
			}
			pods := Pods(t.Context(), c, d, now)
			if len(pods) != want || want > 0 && pods[0].Name != "a" {
				t.Errorf("unready for %s: %d pods, want %d", age, len(pods), want)
			}
		}
	}
	if pods := Pods(t.Context(), silent{c}, live, now); pods != nil {
		t.Errorf("pods of a cluster that lists none: %v", pods)
	}
}

type silent struct{ client.Reader }

func (silent) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("no")
}
