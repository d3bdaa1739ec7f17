package bothapis

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// looping is an upgrade whose only container ends after each start: it fails for that cause, the version before it stays what is installed, and when the container runs
// on for twice as long as before it is installed after all.
func looping(w *world) {
	first := release{version: "1.0.0"}
	w.publish(first)
	w.reaches("1.0.0")
	w.publish(first, release{version: "1.1.0", changes: []fixture.Change{deployed(func(d *appsv1.DeploymentSpec) {
		d.Template.Spec.NodeSelector = map[string]string{"example.com/no": "such-node"} // the test is the kubelet of its pod
	})}})
	ran := 3 * time.Second
	status := corev1.ContainerStatus{Name: "manager", Image: "example.com/manager:1", RestartCount: 3, LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 3, Reason: "Error", StartedAt: metav1.Now(), FinishedAt: metav1.NewTime(time.Now().Add(ran))}}}
	status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
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
