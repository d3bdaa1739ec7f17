package clusterserviceversion

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/test/must"
)

// podOf is a pod of Deployment manager that was made some time ago and has nothing to say.
func (k *cluster) podOf(name string, age time.Duration, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"app": "manager"},
		CreationTimestamp: metav1.NewTime(k.clock.Now().Add(-age))}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func waitingFor(reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
	}
}

// runs makes a pod run; it became ready some time ago, or never.
func (k *cluster) runs(ready time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodRunning
		condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}
		if ready > 0 {
			condition.Status, condition.LastTransitionTime = corev1.ConditionTrue, metav1.NewTime(k.clock.Now().Add(-ready))
		}
		p.Status.Conditions = append(p.Status.Conditions, condition)
	}
}

// TestDisruptedPodsAreNoFailure: an API that is away because its pods are replaced fails only when that takes too long or cannot end well.
func TestDisruptedPodsAreNoFailure(t *testing.T) {
	const young, old, never = time.Minute, 6 * time.Minute, 0
	tests := map[string]struct {
		pods func(k *cluster) []*corev1.Pod
		fine bool
	}{
		"no pod":             {func(*cluster) []*corev1.Pod { return nil }, false},
		"waits for its node": {func(k *cluster) []*corev1.Pod { return []*corev1.Pod{k.podOf("a", young)} }, true},
		"for too long":       {func(k *cluster) []*corev1.Pod { return []*corev1.Pod{k.podOf("a", old)} }, false},
		"is created": {func(k *cluster) []*corev1.Pod {
			return []*corev1.Pod{k.podOf("a", young, waitingFor("ContainerCreating"))}
		}, true},
		"is initialized": {func(k *cluster) []*corev1.Pod {
			return []*corev1.Pod{k.podOf("a", young, waitingFor("PodInitializing"))}
		}, true},
		"has no image": {func(k *cluster) []*corev1.Pod {
			return []*corev1.Pod{k.podOf("a", young, waitingFor("ImagePullBackOff"))}
		}, false},
		"crashes": {func(k *cluster) []*corev1.Pod {
			return []*corev1.Pod{k.podOf("a", young, k.runs(never), waitingFor("CrashLoopBackOff"))}
		}, false},
		"has no place": {func(k *cluster) []*corev1.Pod {
			return []*corev1.Pod{k.podOf("a", young, func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
			})}
		}, false},
		"has restarted":      {func(k *cluster) []*corev1.Pod { return []*corev1.Pod{k.podOf("a", young, k.runs(never))} }, true},
		"has just got ready": {func(k *cluster) []*corev1.Pod { return []*corev1.Pod{k.podOf("a", 2*time.Minute, k.runs(time.Second))} }, true},
		"runs, but does not answer": {func(k *cluster) []*corev1.Pod {
			return []*corev1.Pod{k.podOf("a", 3*time.Minute, k.runs(2*time.Minute))}
		}, false},
		"runs for long": {func(k *cluster) []*corev1.Pod { return []*corev1.Pod{k.podOf("a", 24*time.Hour, k.runs(time.Hour))} }, false},
		"one starts and one crashes": {func(k *cluster) []*corev1.Pod {
			return []*corev1.Pod{k.podOf("a", young), k.podOf("b", old, waitingFor("CrashLoopBackOff"))}
		}, false},
		"of another Deployment": {func(k *cluster) []*corev1.Pod {
			return []*corev1.Pod{k.podOf("a", young, func(p *corev1.Pod) { p.Labels = map[string]string{"app": "other"} })}
		}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := withAPI(t)
			before := k.csv("op.v1")
			for _, pod := range tc.pods(k) {
				k.create(pod)
			}
			k.unavailable("manager")
			k.answer("False")
			k.c.writtenAt.Clear()
			k.wrote()
			result := must.Value(k.reconcile("op.v1"))(t)
			if !tc.fine {
				expect(t, k.csv("op.v1"), toInstalling, "InstallWaiting", "")
				return
			}
			if after := k.csv("op.v1"); after.ResourceVersion != before.ResourceVersion || k.wrote() != nil {
				t.Errorf("it is written that the CSV is %s/%s: %s", after.Status.Phase, after.Status.Reason, after.Status.Message)
			}
			must.Equal(t, "it is requeued after", result.RequeueAfter, disruptionInterval)
			k.clock.SetTime(k.clock.Now().Add(disruptionLimit))
			expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
		})
	}
}

// TestDisruptionIsSeenInAnyOrder: the Deployment may tell first, while the API still counts as available, or the API.
func TestDisruptionIsSeenInAnyOrder(t *testing.T) {
	for name, step := range map[string]func(*cluster){
		"the Deployment": func(k *cluster) { k.unavailable("manager") },
		"the API":        func(k *cluster) { k.answer("False") },
	} {
		t.Run(name, func(t *testing.T) {
			k := withAPI(t)
			k.create(k.podOf("a", time.Second))
			step(k)
			k.wrote()
			if csv := k.pass("op.v1"); csv.Status.Phase != toSucceeded || k.wrote() != nil {
				t.Errorf("%s: %s", csv.Status.Phase, csv.Status.Message)
			}
		})
	}
	k := withAPI(t)
	k.unavailable("manager")
	must.Equal(t, "a Deployment that fails without a disruption is no failure", k.pass("op.v1").Status.Phase == toSucceeded, false)
}

func TestPodsThatAreBeingDeleted(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	grace := int64(30)
	for since, want := range map[time.Duration]string{time.Minute: "is being deleted", disruptionLimit: "", 24 * time.Hour: ""} {
		end := metav1.NewTime(now.Add(-since).Add(30 * time.Second))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-48 * time.Hour)), DeletionTimestamp: &end, DeletionGracePeriodSeconds: &grace}}
		must.Equal(t, "deleted "+since.String()+" ago", replacement(pod, now), want)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: now}}}
	if waitingFor("CrashLoopBackOff")(pod); rollout.PodFailure(pod) != "" {
		t.Error("a pod that is being deleted counts as a failure")
	}
}

// unavailable makes a Deployment have no available pods.
func (k *cluster) unavailable(name string) {
	k.t.Helper()
	d := k.deployment(name)
	d.Status.AvailableReplicas, d.Status.UnavailableReplicas = 0, 1
	d.Status.Conditions = nil
	k.setStatus(d, d.Status)
}
