package clusterserviceversion

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/test/must"
)

// ofADay is a cluster whose manager asks for the time that users get, with an operator that is being installed.
func ofADay(t *testing.T, edits ...func(*v1alpha1.ClusterServiceVersion)) *cluster {
	t.Helper()
	k := newCluster(t, newGroup(ns))
	k.c.limits.stable = rollout.DefaultStableAfter
	k.create(newCSV("op.v1", append(edits, withoutAccounts)...))
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	return k
}

func withReadinessProbe(csv *v1alpha1.ClusterServiceVersion) {
	spec := &csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec
	spec.Template.Spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}}
}

// kubelet is what becomes of the only pod of Deployment manager.
type kubelet struct {
	*cluster
	restarts int32
	started  time.Time
}

// says sets the statuses of the pod and of its Deployment.
func (k *kubelet) says(up corev1.ConditionStatus, container corev1.ContainerStatus) {
	k.t.Helper()
	container.Name, container.RestartCount = "manager", k.restarts
	pod, now := &corev1.Pod{}, metav1.NewTime(k.clock.Now())
	if !k.get(ns, "manager-1", pod) {
		pod = k.podOf("manager-1", 0)
		k.create(pod)
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{container},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: up, LastTransitionTime: now}}}
	must.NoError(k.t, k.client.Status().Update(k.t.Context(), pod))
	d := k.deployment("manager")
	k.setStatus(d, appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: up, Message: "too few", LastTransitionTime: now}}})
}

// starts lets the container run.
func (k *kubelet) starts() {
	k.t.Helper()
	s := corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(k.clock.Now())}}}
	if !k.started.IsZero() {
		k.restarts++
		s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", StartedAt: metav1.NewTime(k.started), FinishedAt: metav1.NewTime(k.started.Add(time.Second))}
	}
	k.started = k.clock.Now()
	k.says(corev1.ConditionTrue, s)
}

// ends lets it end after a second.
func (k *kubelet) ends() {
	k.t.Helper()
	k.wait(time.Second)
	k.says(corev1.ConditionFalse, corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", StartedAt: metav1.NewTime(k.started), FinishedAt: metav1.NewTime(k.clock.Now())}}})
}

func (k *cluster) wait(d time.Duration) { k.clock.SetTime(k.clock.Now().Add(d)) }

// TestSucceedsOnceItIsStable: without a readiness probe an operator has succeeded when it has been available for ten seconds without a restart; with one, as soon
// as it is available. The version before it is there until then.
func TestSucceedsOnceItIsStable(t *testing.T) {
	k := ofADay(t)
	pods := &kubelet{cluster: k}
	pods.starts()
	k.wait(4 * time.Second)
	since := k.clock.Now().Add(-4 * time.Second).UTC().Format(time.RFC3339)
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "installing: waiting for deployment manager to keep running: available since "+since+
		"; as it has no readiness probe, it has to run for 10s without a restart")
	result := must.Value(k.reconcile("op.v1"))(t)
	must.Equal(t, "judged again after", result.RequeueAfter, 6*time.Second)
	k.rests("op.v1")
	k.wait(result.RequeueAfter)
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")

	k.create(newCSV("op.v2", withoutAccounts, replacing("op.v1"), func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0].Image = "example.com/manager:2"
	}))
	k.pass("op.v1")
	k.pass("op.v2")
	pods.says(corev1.ConditionTrue, corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(k.clock.Now())}}})
	expect(t, k.pass("op.v2"), toInstalling, "InstallWaiting", "")
	expect(t, k.pass("op.v1"), toReplacing, "BeingReplaced", "")
	k.wait(10 * time.Second)
	expect(t, k.pass("op.v2"), toSucceeded, "InstallSucceeded", "")
	expect(t, k.pass("op.v1"), toDeleting, "Replaced", "")

	probed := ofADay(t, withReadinessProbe)
	(&kubelet{cluster: probed}).starts()
	expect(t, probed.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
}

// TestRestartsInARowFail: an operator that ends after each start never succeeds, fails when it has been begun again three times, and rests there, whatever its pod
// does meanwhile, until it runs on.
func TestRestartsInARowFail(t *testing.T) {
	for name, edits := range map[string][]func(*v1alpha1.ClusterServiceVersion){"without a probe": nil, "with a probe": {withReadinessProbe}} {
		t.Run(name, func(t *testing.T) {
			k := ofADay(t, edits...)
			pods := &kubelet{cluster: k}
			for _, backOff := range []time.Duration{time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second} {
				pods.starts()
				if csv := k.pass("op.v1"); len(edits) == 0 {
					expect(t, csv, toInstalling, "InstallWaiting", "")
				}
				pods.ends()
				expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "installing: waiting for deployment manager to become ready: too few")
				result := must.Value(k.reconcile("op.v1"))(t)
				must.Equal(t, "its pods are read after", result.RequeueAfter, 10*time.Second)
				k.wait(min(backOff, 10*time.Second))
				k.pass("op.v1")
				k.wait(max(backOff-10*time.Second, 0))
			}
			const failed = "install failed: deployment manager does not keep running: container manager of pod manager-1 keeps exiting with code 3 (Error)"
			expect(t, k.csv("op.v1"), toFailed, "InstallCheckFailed", failed)
			must.Equal(t, "it is stalled", verdictOf(&k.csv("op.v1").Status) == reconcile.Stalled("InstallCheckFailed", failed), true)

			before := history(k.csv("op.v1"))
			for range 3 {
				pods.starts()
				k.rests("op.v1")
				pods.ends()
				k.rests("op.v1")
				k.wait(5 * time.Minute)
				k.rests("op.v1")
			}
			must.Equal(t, "history", history(k.csv("op.v1")), before)

			pods.starts()
			result := must.Value(k.reconcile("op.v1"))(t)
			must.Equal(t, "judged again after", result.RequeueAfter, 10*time.Second)
			k.wait(10 * time.Second)
			expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
		})
	}
}

// TestFailsAfterItHasSucceeded: an operator that ran and then ends again and again comes to rest in Failed, with what its container says.
func TestFailsAfterItHasSucceeded(t *testing.T) {
	k := ofADay(t)
	pods := &kubelet{cluster: k}
	pods.starts()
	k.wait(10 * time.Second)
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	for range 4 {
		pods.ends()
		k.pass("op.v1")
		k.wait(20 * time.Second)
		k.pass("op.v1")
		pods.starts()
		if csv := k.pass("op.v1"); csv.Status.Phase == toSucceeded {
			t.Fatalf("it succeeded again at once: %v", history(csv))
		}
	}
	csv := k.csv("op.v1")
	expect(t, csv, toFailed, "InstallCheckFailed", "")
	must.Contain(t, "message", csv.Status.Message, "keeps exiting with code 3")
	way := strings.Join(history(csv), " ")
	must.Contain(t, "history", way, "Succeeded/InstallSucceeded Failed/ComponentUnhealthy Pending/NeedsReinstall InstallReady/AllRequirementsMet Installing/InstallSucceeded Installing/InstallWaiting")
	must.Equal(t, "times that it succeeded", strings.Count(way, "Succeeded/InstallSucceeded"), 1)
	must.Equal(t, "it rests in Failed", slices.Index(history(csv), "Failed/InstallCheckFailed"), len(history(csv))-1)
}

// TestUnavailableForAMoment: a pod that is made elsewhere has to be stable for ten seconds, and its operator has not failed.
func TestUnavailableForAMoment(t *testing.T) {
	k := ofADay(t)
	pods := &kubelet{cluster: k}
	pods.starts()
	k.wait(time.Hour)
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	d := k.deployment("manager")
	d.Status.Conditions[0].Status = corev1.ConditionFalse
	k.setStatus(d, d.Status)
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	pods.says(corev1.ConditionTrue, corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(k.clock.Now())}}})
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	k.wait(10 * time.Second)
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	// One that was not seen to be unavailable, as while the manager was away, stays as it is.
	pods.says(corev1.ConditionTrue, corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(k.clock.Now())}}})
	k.rests("op.v1")
}
