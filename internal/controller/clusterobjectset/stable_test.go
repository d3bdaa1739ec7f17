package clusterobjectset

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
)

// ofADay is a world whose manager asks for the time that users get. Revision 1 of the extension runs, and revision 2 has applied its Deployment.
func ofADay(t *testing.T, change func(*unstructured.Unstructured)) *kubelet {
	t.Helper()
	w := newWorld(t)
	w.revise(options(1, deployment(t, "op", "op:v1")))
	w.settle()
	w.run("op", true)
	w.settle()
	w.expect("ext-1", "Succeeded=True/Succeeded")
	w.run("op", false)
	w.controller.stableAfter = rollout.DefaultStableAfter
	next := deployment(t, "op", "op:v2")
	change(next)
	w.revise(options(2, next))
	w.settle()
	w.expect("ext-2", "Progressing=True/RollingOut")
	return &kubelet{world: w}
}

func withoutProbe(*unstructured.Unstructured) {}

func withProbe(u *unstructured.Unstructured) {
	containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
	containers[0].(map[string]any)["readinessProbe"] = map[string]any{"tcpSocket": map[string]any{"port": int64(80)}}
	_ = unstructured.SetNestedSlice(u.Object, containers, "spec", "template", "spec", "containers")
}

// kubelet is what becomes of the only pod of Deployment op.
type kubelet struct {
	*world
	restarts int32
	started  time.Time
}

// says sets the statuses of the pod and of its Deployment.
func (k *kubelet) says(up corev1.ConditionStatus, container corev1.ContainerStatus) {
	k.Helper()
	container.Name, container.RestartCount = "manager", k.restarts
	pod, now := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "op-1", Labels: map[string]string{"app": "op"}}}, metav1.NewTime(k.Clock.Now())
	if err := k.Inner.Get(k.Context(), keyOf(pod), pod); err != nil {
		must.NoError(k.T, k.Inner.Create(k.Context(), pod))
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{container},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: up, LastTransitionTime: now}}}
	must.NoError(k.T, k.Inner.Status().Update(k.Context(), pod))
	u := k.get("Deployment", "op")
	status := appsv1.DeploymentStatus{ObservedGeneration: u.GetGeneration(), Replicas: 1, UpdatedReplicas: 1, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: up, Message: "too few", LastTransitionTime: now}}}
	u.Object["status"] = must.Value(runtime.DefaultUnstructuredConverter.ToUnstructured(&status))(k.T)
	must.NoError(k.T, k.Inner.Status().Update(k.Context(), u))
}

// starts lets the container run.
func (k *kubelet) starts() {
	k.Helper()
	s := corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(k.Clock.Now())}}}
	if !k.started.IsZero() {
		k.restarts++
		s.LastTerminationState.Terminated = k.ended(k.started.Add(time.Second))
	}
	k.started = k.Clock.Now()
	k.says(corev1.ConditionTrue, s)
}

// ends lets it end after a second.
func (k *kubelet) ends() {
	k.Helper()
	k.wait(time.Second)
	k.says(corev1.ConditionFalse, corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: k.ended(k.Clock.Now())}})
}

func (k *kubelet) ended(at time.Time) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", StartedAt: metav1.NewTime(k.started), FinishedAt: metav1.NewTime(at)}
}

func (k *kubelet) wait(d time.Duration) { k.Clock.SetTime(k.Clock.Now().Add(d)) }

// is expects which revisions are active, which is until the last of them has succeeded.
func (k *kubelet) is(active ...string) {
	k.Helper()
	var all olmv1.ClusterObjectSetList
	must.NoError(k.T, k.Inner.List(k.Context(), &all))
	var names []string
	for i := range all.Items {
		if revision.Active(&all.Items[i]) {
			names = append(names, all.Items[i].Name)
		}
	}
	must.Equal(k.T, "active revisions", names, active)
}

// TestSucceedsOnceItIsStable: without a readiness probe a revision has succeeded when its Deployment has been available for ten seconds without a restart; with
// one, as soon as it is available. The revision before it is active until then.
func TestSucceedsOnceItIsStable(t *testing.T) {
	k := ofADay(t, withoutProbe)
	k.starts()
	k.settle()
	k.wait(4 * time.Second)
	k.settle()
	k.expect("ext-2", "Progressing=True/RollingOut")
	k.expect("ext-2", "Available=False/ProbeFailure: Object Deployment.apps/v1 ns/op: available since 2026-01-01T12:00:00Z; as it has no readiness probe, it has to run for 10s without a restart")
	result := must.Value(k.pass("ext-2"))(t)
	must.Equal(t, "judged again after", result.RequeueAfter, 6*time.Second)
	k.is("ext-1", "ext-2")
	k.wait(result.RequeueAfter)
	k.settle()
	k.expect("ext-2", "Succeeded=True/Succeeded")
	k.expect("ext-2", "Available=True/ProbesSucceeded")
	k.is("ext-2")

	probed := ofADay(t, withProbe)
	probed.starts()
	probed.settle()
	probed.expect("ext-2", "Succeeded=True/Succeeded")
	probed.is("ext-2")
}

// TestRestartsInARowFail: a revision whose container ends after each start has failed when that has been begun again three times, which lets an extension roll back,
// and stays so, whatever its pod does meanwhile, until it runs on.
func TestRestartsInARowFail(t *testing.T) {
	const exits = "Object Deployment.apps/v1 ns/op: container manager of pod op-1 keeps exiting with code 3 (Error)"
	k := ofADay(t, withoutProbe)
	for range 4 {
		k.starts()
		k.settle()
		k.expect("ext-2", "Progressing=True/RollingOut")
		k.ends()
		result := must.Value(k.pass("ext-2"))(t)
		must.Equal(t, "its pods are read after", result.RequeueAfter, 10*time.Second)
		k.wait(result.RequeueAfter)
		k.settle()
	}
	failed := func() {
		t.Helper()
		k.settle()
		k.expect("ext-2", "Progressing=False/CrashLoopBackOff: Revision 2.0.0 does not keep running. "+exits)
		k.expect("ext-2", "Available=False/ProbeFailure: "+exits)
		must.Equal(t, "it has failed", revision.Failed(k.set("ext-2")), true)
		k.is("ext-1", "ext-2")
	}
	failed()
	must.Equal(t, "events", strings.Contains(strings.Join(told(k.world), "\n"), "Warning CrashLoopBackOff Revision 2.0.0 does not keep running."), true)
	k.taken()
	for range 3 {
		k.starts()
		failed()
		k.ends()
		failed()
		k.wait(5 * time.Minute)
		failed()
	}
	must.Empty(t, "writes meanwhile", k.taken())
	k.starts()
	result := must.Value(k.pass("ext-2"))(t)
	must.Equal(t, "judged again after", result.RequeueAfter, 10*time.Second)
	k.wait(10 * time.Second)
	k.settle()
	k.expect("ext-2", "Progressing=True/Succeeded")
	k.is("ext-2")
}

// TestLostAfterItHasSucceeded: what has succeeded once stays so. It is available again when it has been so for ten seconds, and not while it is begun again and again.
func TestLostAfterItHasSucceeded(t *testing.T) {
	k := ofADay(t, withoutProbe)
	k.starts()
	k.wait(10 * time.Second)
	k.settle()
	k.expect("ext-2", "Available=True/ProbesSucceeded")
	for range 4 {
		k.ends()
		k.settle()
		k.expect("ext-2", "Available=False/ProbeFailure")
		k.wait(20 * time.Second)
		k.settle()
		k.expect("ext-2", "Available=False/ProbeFailure", "keeps exiting with code 3")
		k.starts()
		k.settle()
		k.expect("ext-2", "Available=False/ProbeFailure", "keeps exiting with code 3")
	}
	k.expect("ext-2", "Progressing=True/RollingOut")
	k.wait(10 * time.Second)
	k.settle()
	k.expect("ext-2", "Available=True/ProbesSucceeded")
	k.expect("ext-2", "Progressing=True/Succeeded")
}

// told takes the Events.
func told(w *world) (all []string) {
	for {
		select {
		case e := <-w.Events.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}
