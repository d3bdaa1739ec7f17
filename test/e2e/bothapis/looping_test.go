package bothapis

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// loops is a release of which the test is the kubelet: its pod has no node.
var loops = release{version: "1.1.0", changes: []fixture.Change{deployed(func(d *appsv1.DeploymentSpec) {
	d.Template.Spec.NodeSelector = map[string]string{"example.com/no": "such-node"}
})}}

// waits is the status of its container when that was begun again three times, and ran for some seconds the last time.
func waits(ran time.Duration) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "manager", Image: "example.com/manager:1", RestartCount: 3,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 3, Reason: "Error", StartedAt: metav1.Now(), FinishedAt: metav1.NewTime(time.Now().Add(ran))}}}
}

// looping is an upgrade whose only container ends after each start: it fails for that cause, the version before it stays what is installed, and when the container runs
// on for twice as long as before it is installed after all.
func looping(w *world) {
	first := release{version: "1.0.0"}
	w.publish(first)
	w.reaches("1.0.0")
	w.publish(first, loops)
	ran := 3 * time.Second
	status := waits(ran)
	w.runsPod(corev1.ConditionFalse, status)
	w.says("does not keep running", "container manager of pod manager-", " keeps exiting with code 3 (Error)")
	must.NoError(w, w.keeps("1.0.0"))
	if err := w.runs("1.1.0"); err == nil {
		w.Error("an operator that ends again and again is said to work")
	}

	began := metav1.Now()
	status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}
	w.runsPod(corev1.ConditionTrue, status)
	w.reaches("1.1.0")
	if took := time.Since(began.Truncate(time.Second)); took < 2*ran {
		w.Errorf("it was installed %s after a start, though the last time it ran for %s", took, ran)
	}
}

// TestRollsBackWhatLoops: a ClusterExtension that asks for that has its previous version back when the container of an upgrade ends again and again.
func TestRollsBackWhatLoops(t *testing.T) {
	w := newWorld(t, byV1)
	first := release{version: "1.0.0"}
	w.publish(first)
	harness.Edit(t, w, "", w.Namespace, &olmv1.ClusterExtension{}, func(e *olmv1.ClusterExtension) {
		metav1.SetMetaDataAnnotation(&e.ObjectMeta, revision.OnFailureKey, revision.OnFailureRollback)
	})
	w.reaches("1.0.0")
	w.publish(first, loops)
	w.runsPod(corev1.ConditionFalse, waits(time.Second))
	w.says("Progressing=False/Blocked: the rollout of revision ", "rolled back to what was installed before")
	w.reaches("1.0.0")
	must.Equal(t, "node selector", len(w.deployment().Spec.Template.Spec.NodeSelector), 0)
}

// runsPod sets the status of the pod that has no node, as a kubelet does.
func (w *world) runsPod(ready corev1.ConditionStatus, container corev1.ContainerStatus) {
	w.Helper()
	w.Eventually("the status of the pod without a node to be written", func() error {
		var pods corev1.PodList
		must.NoError(w, w.List(w.Context(), &pods, client.InNamespace(w.Namespace)))
		for i := range pods.Items {
			pod := &pods.Items[i]
			if len(pod.Spec.NodeSelector) == 0 {
				continue
			}
			container.Ready = ready == corev1.ConditionTrue
			pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodRunning, []corev1.ContainerStatus{container}
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Now()}}
			return w.Status().Update(w.Context(), pod)
		}
		return errors.New("there is none")
	})
}

// keeps is an error where a version is not the one that people have while the next one fails.
func (a v0) keeps(version string) error {
	if told := a.told(); !strings.Contains(told, pkg+".v"+version+" Replacing: ") || !strings.Contains(told, "Failed: install failed: ") {
		return fmt.Errorf("they are told: %s", told)
	}
	return nil
}

func (a v1) keeps(version string) error {
	if installed := a.extension().Status.Install; installed == nil || installed.Bundle.Version != version {
		return fmt.Errorf("%v is installed", installed)
	}
	if told := a.told(); !strings.Contains(told, "Progressing=False/CrashLoopBackOff: Revision ") {
		return fmt.Errorf("they are told: %s", told)
	}
	return nil
}
