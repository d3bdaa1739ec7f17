package realnode

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/test/must"
)

// TestRealNode is one story: each step needs the one before, and a machine is one node.
func TestRealNode(t *testing.T) {
	w := newWorld(t)
	before := w.traces()
	w.start()
	must.Contain(t, "the status", w.run("status"), "1, real: this machine", "kubelet", "kube-proxy", "containerd")
	second := exec.Command(w.program, "cluster", "start", "--real-node", "--name", "second", "--data-dir", w.dir+"2")
	if output, err := second.CombinedOutput(); err == nil || !strings.Contains(string(output), "is the real node of a cluster already (process ") {
		t.Errorf("a second cluster on the machine: %v\n%s", err, output)
	}
	if _, err := os.Stat(w.dir + "2"); err == nil {
		t.Error("a cluster that cannot be started has a directory")
	}
	w.pushImage()
	const namespace = "real"
	must.Value(w.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{}))(t)

	w.serve(namespace, "web", 2)
	// By the name of the Service in the pod's own namespace, with the namespace, and in full; the API server by its name.
	log := w.once(namespace, "client", "fetch", "http://web/", "http://web."+namespace+"/", "http://web."+namespace+".svc.cluster.local/")
	if count := strings.Count(log, "served by web-"); count != 3 {
		t.Errorf("a pod reached a Service %d times instead of 3:\n%s", count, log)
	}
	// A name that is in no Service is in none at once, not after a time.
	must.Contain(t, "the log of a pod that asks for an unknown name", w.once(namespace, "lost", "fetch", "http://unknown."+namespace+".svc.cluster.local/"), "no such host")

	pod := w.podsOf(namespace, "web")[0]
	must.Contain(t, "the log of a pod that runs", w.log(namespace, pod.Name), "serving")
	must.Equal(t, "what a program prints that is run in a pod", w.exec(namespace, pod.Name, "/program", "say", "hello"), "hello\n")

	w.refuseBadNames(namespace)
	configMaps := w.client.CoreV1().ConfigMaps(namespace)
	w.eventually("the API server asks the webhook in a pod", func(ctx context.Context) error {
		_, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bad"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil || !strings.Contains(err.Error(), "refused by a pod") {
			return fmt.Errorf("a bad name: %w", err)
		}
		return nil
	})
	must.Value(configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "good"}}, metav1.CreateOptions{}))(t)

	w.killAndStart(namespace)

	began := time.Now()
	w.run("stop")
	t.Logf("stopped after %s", time.Since(began).Round(100*time.Millisecond))
	must.Equal(t, "what is on the machine afterwards", w.traces(), before)
}

// killAndStart kills the supervisor, whose pods go on without it, and starts the cluster again: it begins from what is stored.
func (w *world) killAndStart(namespace string) {
	w.Helper()
	must.NoError(w, syscall.Kill(w.status.PID, syscall.SIGKILL))
	w.eventually("the children of the supervisor end", func(context.Context) error {
		for _, c := range w.status.Components {
			if err := syscall.Kill(c.PID, 0); err == nil {
				return fmt.Errorf("%s still runs", c.Name)
			}
		}
		return nil
	})
	registry := w.status.Registry
	w.start()
	must.Equal(w, "the registry, which is in the names of images", w.status.Registry, registry)
	for _, app := range []string{"web", "judge"} {
		replicas := int32(len(w.podsOf(namespace, app)))
		w.eventually("the pods of "+app+" run again", func(context.Context) error {
			for _, pod := range w.podsOf(namespace, app) {
				for _, c := range pod.Status.ContainerStatuses {
					if c.State.Running == nil || c.State.Running.StartedAt.Time.Before(w.status.Started.Truncate(time.Second)) {
						return fmt.Errorf("%s: %+v", pod.Name, c.State)
					}
				}
			}
			return nil
		})
		w.awaitAvailable(namespace, app, replicas)
	}
	must.Contain(w, "the log of a pod after the start", w.once(namespace, "again", "fetch", "http://web/"), "served by web-")
}

// TestStopCleansUp is about a cluster that was killed and is not started again.
func TestStopCleansUp(t *testing.T) {
	w := newWorld(t)
	before := w.traces()
	w.start()
	w.pushImage()
	w.serve("default", "web", 1)
	must.NoError(t, syscall.Kill(w.status.PID, syscall.SIGKILL))
	w.eventually("the supervisor ends", func(context.Context) error {
		if err := syscall.Kill(w.status.PID, 0); err == nil {
			return fmt.Errorf("process %d runs", w.status.PID)
		}
		return nil
	})
	must.Contain(t, "what a killed cluster leaves", strings.Join(w.traces(), "\n"), "process /pause", "table ip kube-proxy", "mount ", "kubepods")
	must.Contain(t, "what stop says", w.run("stop"), "is not running")
	must.Equal(t, "what is on the machine afterwards", w.traces(), before)
}

// TestLossOfContainerd: a cluster that stops because one of its components ended gives the machine back too, and says which.
func TestLossOfContainerd(t *testing.T) {
	w := newWorld(t)
	before := w.traces()
	w.start()
	w.pushImage()
	w.serve("default", "web", 1)
	began := time.Now()
	for _, c := range w.status.Components {
		if c.Name == "containerd" {
			must.NoError(t, syscall.Kill(c.PID, syscall.SIGKILL))
		}
	}
	w.eventually("the supervisor ends", func(context.Context) error {
		if err := syscall.Kill(w.status.PID, 0); err == nil {
			return fmt.Errorf("process %d runs", w.status.PID)
		}
		return nil
	})
	t.Logf("stopped after %s", time.Since(began).Round(100*time.Millisecond))
	must.Contain(t, "the log of the supervisor", string(must.Value(os.ReadFile(filepath.Join(w.dir, "logs", "fairlead-cluster.log")))(t)), "containerd ended (signal: killed)")
	must.Equal(t, "what is on the machine afterwards", w.traces(), before)
}
