package catalogsource

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
)

// TestAPodThatFails is no connection on its way: the state is TRANSIENT_FAILURE, with the cause, also while its container is being started again, until it answers.
func TestAPodThatFails(t *testing.T) {
	waits := func(reason, message string, last *corev1.ContainerStateTerminated) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "registry-server", RestartCount: 3, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
			LastTerminationState: corev1.ContainerState{Terminated: last}}
	}
	panicked := &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error", Message: "panic: no such table"}
	for name, test := range map[string]struct {
		status     corev1.ContainerStatus
		state, why string
	}{
		"crashes":  {waits("CrashLoopBackOff", "back-off 5m0s", panicked), "TRANSIENT_FAILURE", "container registry-server waits (CrashLoopBackOff: back-off 5m0s; it ended with exit code 2 (Error: panic: no such table))"},
		"memory":   {waits("CrashLoopBackOff", "back-off 5m0s", &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}), "TRANSIENT_FAILURE", "it ended with exit code 137 (OOMKilled)"},
		"no image": {waits("ImagePullBackOff", `Back-off pulling image "x"`, nil), "TRANSIENT_FAILURE", `container registry-server waits (ImagePullBackOff: Back-off pulling image "x")`},
		"has just ended": {corev1.ContainerStatus{Name: "registry-server", State: corev1.ContainerState{Terminated: panicked}},
			"TRANSIENT_FAILURE", "container registry-server ended with exit code 2 (Error: panic: no such table)"},
		"is started again": {corev1.ContainerStatus{Name: "registry-server", RestartCount: 1, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			LastTerminationState: corev1.ContainerState{Terminated: panicked}}, "TRANSIENT_FAILURE", "container registry-server was started again, because it ended with exit code 2 (Error: panic: no such table)"},
		"starts":        {corev1.ContainerStatus{Name: "registry-server", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}, "CONNECTING", "its server does not answer the health probe yet"},
		"is being made": {waits("ContainerCreating", "", nil), "CONNECTING", "its server does not answer the health probe yet"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, source(grpc(time.Hour)), namespaceOf())
			w.withPods(newServer(t, good))
			w.registry.noCatalog, w.registry.content = true, strings.Repeat("1", 64)
			for range 3 {
				w.reconcile()
				w.Clock.Step(time.Second)
			}
			pods := w.pods()
			must.Equal(t, "pods", len(pods), 1)
			pods[0].Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{test.status}}
			must.NoError(t, w.client.Status().Update(t.Context(), &pods[0]))
			_, s := w.reconcile()
			must.Equal(t, "state", s.Status.GRPCConnectionState.LastObservedState, test.state)
			must.Contain(t, "message", s.Status.Message, test.why)
			pods[0].Status.ContainerStatuses = nil
			must.NoError(t, w.client.Status().Update(t.Context(), &pods[0]))
			must.Equal(t, "state of the one that answers", w.settle(digestOne).Status.GRPCConnectionState.LastObservedState, "READY")
		})
	}
}
