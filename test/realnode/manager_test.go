package realnode

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// TestManager is the story of the manager as it is shipped: in its own pods, from its own image, by its own commands.
func TestManager(t *testing.T) {
	w := newWorld(t)
	before := w.traces()
	w.start()
	w.pushImage()
	w.installManager()
	w.step("Pods", (*world).managerPods)
	w.serveCatalog()
	w.step("Faults", (*world).faults)
	w.step("Webhooks", (*world).webhooks)
	w.step("PublicBundle", (*world).publicBundle)
	w.step("LeaderKill", (*world).killLeader)
	w.step("CatalogPods", (*world).catalogPods)
	w.step("NodeLoss", (*world).nodeLoss)
	w.step("Uninstall", (*world).uninstallManager)
	w.run("stop")
	must.Equal(t, "what is on the machine afterwards", w.traces(), before)
}

// installManager installs the manager as a user does, and returns when it is available.
func (w *world) installManager() {
	w.Helper()
	began := time.Now()
	image := w.pushManager()
	w.Logf("the manager was released and pushed after %s", time.Since(began).Round(100*time.Millisecond))
	began = time.Now()
	said := w.does("system", "install", "--image", image, "--manager-arg=--insecure-registry="+w.status.PodRegistry)
	must.Contain(w, "what the installation says", said, "Deployment olm/fairlead-manager is available", "The manager is installed in namespace olm")
	w.Logf("the manager is available after %s", time.Since(began).Round(100*time.Millisecond))
}

// managers are the pods of the manager.
func (w *world) managers() []corev1.Pod {
	w.Helper()
	var pods corev1.PodList
	must.NoError(w, w.List(w.Context(), &pods, client.InNamespace("olm"), client.MatchingLabels{"app": "fairlead-manager"}))
	return pods.Items
}

// managerPods: two replicas run as the manifests have them, in a namespace of PodSecurity restricted, without a restart, and doctor finds nothing.
func (w *world) managerPods() {
	pods := w.managers()
	must.Equal(w, "number of pods", len(pods), 2)
	for _, pod := range pods {
		for _, c := range pod.Status.ContainerStatuses {
			if !c.Ready || c.RestartCount != 0 {
				w.Errorf("container %s of pod %s: ready %t, %d restarts", c.Name, pod.Name, c.Ready, c.RestartCount)
			}
		}
		log := w.log("olm", pod.Name)
		for line := range strings.Lines(log) {
			if strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, "level=ERROR") {
				w.Errorf("pod %s logs an error: %s", pod.Name, line)
			}
		}
	}
	var namespace corev1.Namespace
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: "olm"}, &namespace))
	must.Equal(w, "what the namespace enforces", namespace.Labels["pod-security.kubernetes.io/enforce"], "restricted")
	w.Log(w.does("doctor"))
}

// uninstallManager removes the manager, whose pods end.
func (w *world) uninstallManager() {
	began := time.Now()
	must.Contain(w, "what the removal says", w.does("system", "uninstall", "--yes"), "the manager is removed")
	w.eventually("the pods of the manager end", func(context.Context) error {
		if left := w.managers(); len(left) > 0 {
			return fmt.Errorf("%d are left", len(left))
		}
		return nil
	})
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: "olm", Name: "fairlead-manager"}, &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		w.Errorf("the Deployment of the manager after it was removed: %v", err)
	}
	w.Logf("removed after %s", time.Since(began).Round(100*time.Millisecond))
}
