package rollout

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// noon is the time of these tests.
var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// ago is a time before noon, as objects have it.
func ago(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-d)) }

// deploymentSince is a Deployment of one pod that has been available for some time.
func deploymentSince(available time.Duration, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "op", UID: "u", CreationTimestamp: ago(time.Hour)}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "op"}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c"}}
	d.Status = appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, LastTransitionTime: ago(available)}}}
	for _, change := range changes {
		change(d)
	}
	return d
}

func withProbe(d *appsv1.Deployment) {
	d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "checked", ReadinessProbe: &corev1.Probe{}})
}

func down(d *appsv1.Deployment) {
	d.Status.Conditions[0].Status, d.Status.Conditions[0].Message = corev1.ConditionFalse, "too few"
}

// podReady is a pod that has been ready for some time, with a container.
func podReady(since time.Duration, container corev1.ContainerStatus) *corev1.Pod {
	container.Name = "c"
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Labels: map[string]string{"app": "op"}}}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{container},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(since)}}}
	return pod
}

// ran is a container that has been running for some time, after restarts of which the last run took some time.
func ran(running time.Duration, restarts int32, before time.Duration) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Ready: true, RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(running)}}}
	if restarts > 0 {
		s.LastTerminationState.Terminated = ended(before)
	}
	return s
}

// waits is a container that waits until it is begun again.
func waits(restarts int32, before time.Duration) corev1.ContainerStatus {
	return corev1.ContainerStatus{RestartCount: restarts, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: ended(before)}}
}

func ended(after time.Duration) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", StartedAt: ago(time.Minute), FinishedAt: ago(time.Minute - after)}
}

// TestStable is the table of when a Deployment that is available has shown that it stays so, and of when restarts of its containers are a failure.
func TestStable(t *testing.T) {
	const since = "available since %s; as it has no readiness probe, it has to run for 10s without a restart"
	const exits = "container c of pod p keeps exiting with code 3 (Error)"
	text := func(d time.Duration) string { return fmt.Sprintf(since, noon.Add(-d).Format(time.RFC3339)) }
	const minute = time.Minute
	for name, tc := range map[string]struct {
		live     *appsv1.Deployment
		pod      *corev1.Pod
		doubtful bool
		after    time.Duration // 10 s unless it is given
		state    State
		message  string
		again    time.Duration // after noon; 0 is never
	}{
		"just now":                      {live: deploymentSince(0), state: Unproven, message: text(0), again: 10 * time.Second},
		"for a while":                   {live: deploymentSince(4 * time.Second), state: Unproven, message: text(4 * time.Second), again: 6 * time.Second},
		"for long enough":               {live: deploymentSince(10 * time.Second), pod: podReady(10*time.Second, ran(10*time.Second, 0, 0))},
		"for long enough, without pods": {live: deploymentSince(10 * time.Second)},
		"its probe vouches for it":      {live: deploymentSince(0, withProbe)},
		"minReadySeconds do":            {live: deploymentSince(0, func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 1 })},
		"of no replicas":                {live: deploymentSince(0, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32) })},
		"nothing is waited for":         {live: deploymentSince(0), after: -1},
		"an update, just complete": {live: deploymentSince(time.Hour, func(d *appsv1.Deployment) {
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Reason: "NewReplicaSetAvailable", LastUpdateTime: ago(time.Second)})
		}), state: Unproven, message: text(time.Second), again: 9 * time.Second},
		"its newest pod is just ready":    {live: deploymentSince(minute), pod: podReady(3*time.Second, ran(5*time.Second, 0, 0)), state: Unproven, message: text(3 * time.Second), again: 7 * time.Second},
		"a pod that is not ready":         {live: deploymentSince(minute), pod: unready(podReady(0, ran(time.Second, 0, 0)))},
		"a restart that no status showed": {live: deploymentSince(minute), pod: podReady(minute, ran(4*time.Second, 1, time.Second)), state: Unproven, message: exits + since[len("available since %s"):], again: 6 * time.Second},
		"a restart a while ago":           {live: deploymentSince(minute), pod: podReady(minute, ran(10*time.Second, 1, time.Second))},
		"waits for its next start":        {live: deploymentSince(minute), pod: unready(podReady(0, waits(1, time.Second))), state: Unproven, message: exits + since[len("available since %s"):], again: 10 * time.Second},
		"of a pod that goes": {live: deploymentSince(minute), pod: func() *corev1.Pod {
			p := unready(podReady(0, waits(5, time.Second)))
			p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: noon}, []string{"example.com/wait"}
			return p
		}()},

		"three restarts, down":               {live: deploymentSince(minute, down), pod: unready(podReady(0, waits(3, time.Second))), state: CrashLooping, message: exits, again: 30 * time.Second},
		"three restarts, down, with a probe": {live: deploymentSince(minute, down, withProbe), pod: unready(podReady(0, waits(3, time.Second))), state: CrashLooping, message: exits, again: 30 * time.Second},
		"two restarts, down":                 {live: deploymentSince(minute, down), pod: unready(podReady(0, waits(2, time.Second))), state: Unready, message: exits + "; too few", again: 30 * time.Second},
		"three restarts, down just now":      {live: deploymentSince(time.Second, down), pod: unready(podReady(0, waits(3, time.Second))), state: Unready, message: "too few", again: 9 * time.Second},
		"the same, of one that has failed":   {live: deploymentSince(time.Second, down), pod: unready(podReady(0, waits(3, time.Second))), doubtful: true, state: CrashLooping, message: exits, again: 9 * time.Second},
		"two, of one that has failed":        {live: deploymentSince(time.Second, down), pod: unready(podReady(0, waits(2, time.Second))), doubtful: true, state: Unready, message: "too few", again: 9 * time.Second},
		"given up": {live: deploymentSince(minute, down, func(d *appsv1.Deployment) {
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"})
		}), pod: unready(podReady(0, waits(3, time.Second))), state: CrashLooping, message: exits, again: 30 * time.Second},
		"runs again":                       {live: deploymentSince(15 * time.Second), pod: podReady(15*time.Second, ran(15*time.Second, 3, 20*time.Second)), state: CrashLooping, message: exits, again: 25 * time.Second},
		"runs for longer than before":      {live: deploymentSince(40 * time.Second), pod: podReady(40*time.Second, ran(40*time.Second, 3, 20*time.Second))},
		"each run was long":                {live: deploymentSince(15 * time.Second), pod: podReady(15*time.Second, ran(15*time.Second, 30, 10*minute))},
		"a probe does not end it":          {live: deploymentSince(15*time.Second, withProbe), pod: podReady(15*time.Second, ran(15*time.Second, 3, 20*time.Second)), doubtful: true, state: CrashLooping, message: exits, again: 25 * time.Second},
		"stable, with a probe":             {live: deploymentSince(40*time.Second, withProbe), pod: podReady(40*time.Second, ran(40*time.Second, 3, 20*time.Second)), doubtful: true},
		"failed, and available at last":    {live: deploymentSince(0), pod: podReady(0, ran(0, 0, 0)), doubtful: true, state: Unproven, message: text(0), again: 10 * time.Second},
		"an init container that got there": {live: deploymentSince(minute), pod: initialized(podReady(minute, ran(minute, 0, 0)))},
		"for very long":                    {live: deploymentSince(time.Hour), pod: podReady(time.Second, ran(time.Second, 1, time.Second))},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			if tc.pod != nil {
				must.NoError(t, c.Inner.Create(t.Context(), tc.pod.DeepCopy()))
				if tc.pod.DeletionTimestamp != nil {
					must.NoError(t, c.Inner.Delete(t.Context(), tc.pod.DeepCopy()))
				}
			}
			var again time.Time
			j := Judge{Reader: c, Clock: clocktesting.NewFakePassiveClock(noon), StableAfter: 10 * time.Second, Doubtful: tc.doubtful, Again: func(at time.Time) { again = at }}
			if tc.after != 0 {
				j.StableAfter = 0
			}
			got := j.Deployment(t.Context(), tc.live, tc.live)
			if got.State != tc.state || got.Message != tc.message {
				t.Errorf("%+v, want %d %q", got, tc.state, tc.message)
			}
			want := time.Time{}
			if tc.again != 0 {
				want = noon.Add(tc.again)
			}
			must.Equal(t, "judged again", again, want)
			j.Proven, j.Doubtful = true, false
			if proven := j.Deployment(t.Context(), tc.live, tc.live); tc.live.Status.Conditions[0].Status == corev1.ConditionTrue && len(tc.live.Status.Conditions) == 1 {
				must.Equal(t, "one that was stable before", proven, Health{})
			}
		})
	}
	must.Equal(t, "none", Judge{}.Deployment(t.Context(), &appsv1.Deployment{}, nil).State, Missing)
}

func unready(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Conditions[0].Status = corev1.ConditionFalse
	return pod
}

// initialized is a pod whose init container was begun again several times, and has done its work.
func initialized(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.InitContainers = []corev1.Container{{Name: "i"}}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "i", RestartCount: 4, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	return pod
}

// TestStableStatefulSet: a StatefulSet is judged by its pods in the same way, as its status does not have since when they are ready.
func TestStableStatefulSet(t *testing.T) {
	c := newCluster(t)
	must.NoError(t, c.Inner.Create(t.Context(), podReady(4*time.Second, ran(4*time.Second, 0, 0))))
	manifest := object(t, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {namespace: ns, name: op}, spec: {selector: {matchLabels: {app: op}}}}`)
	live := manifest.DeepCopy()
	live.Object["status"] = map[string]any{"updatedReplicas": int64(1), "readyReplicas": int64(1)}
	clock := clocktesting.NewFakePassiveClock(noon)
	var seen Health
	judge := Judge{Reader: c, Clock: clock, StableAfter: 10 * time.Second}
	probe := WorkloadProbe(t.Context(), manifest, judge, func(h Health) { seen = h })
	must.Contain(t, "just ready", probe(live), "available since 2030-01-02T11:59:56Z")
	must.Equal(t, "health", seen.State, Unproven)
	clock.SetTime(noon.Add(6 * time.Second))
	must.Equal(t, "stable", probe(live), "")
	must.Equal(t, "health", seen.State, Healthy)

	live.Object["spec"].(map[string]any)["minReadySeconds"] = int64(5)
	must.Equal(t, "minReadySeconds are not over", probe(live), "0 of 1 replicas are available")
}

// TestWithoutTheRightToReadPods: the status of the workload decides alone.
func TestWithoutTheRightToReadPods(t *testing.T) {
	var reader client.Reader = without[*corev1.PodList]{newCluster(t)}
	j := Judge{Reader: reader, Clock: clocktesting.NewFakePassiveClock(noon), StableAfter: 10 * time.Second}
	must.Equal(t, "available", j.Deployment(t.Context(), &appsv1.Deployment{}, deploymentSince(10*time.Second)), Health{})
	must.Equal(t, "unavailable", j.Deployment(t.Context(), &appsv1.Deployment{}, deploymentSince(time.Minute, down)).Message, "too few")
}
