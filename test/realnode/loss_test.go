package realnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// leader is who leads the managers, as its lease has it.
func (w *world) leader() string {
	w.Helper()
	lease := &coordinationv1.Lease{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Namespace: "olm", Name: "fairlead-manager"}, lease))
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// killLeader ends the process of the manager that leads, which cannot give the lease up, and its pod: another one leads soon.
func (w *world) killLeader() {
	was := w.leader()
	killed := false
	began := time.Now()
	for _, pod := range w.managers() {
		if strings.HasPrefix(was, pod.Name) {
			w.killProgram(&pod)
			must.NoError(w, w.Delete(w.Context(), &pod, client.GracePeriodSeconds(0)))
			killed = true
		}
	}
	if !killed {
		w.Fatalf("%q, who leads, is none of the pods", was)
	}
	took := must.EventuallyWithin(w, "another manager leads", 20*time.Second, func() error {
		if now := w.leader(); now == was || now == "" {
			return fmt.Errorf("%q leads", now)
		}
		return nil
	})
	w.Logf("another manager leads %s after the leader was killed", took.Round(100*time.Millisecond))
	w.eventually("two managers are ready", func(context.Context) error {
		ready := 0
		for _, pod := range w.managers() {
			for _, c := range pod.Status.ContainerStatuses {
				if c.Ready && pod.DeletionTimestamp == nil {
					ready++
				}
			}
		}
		if ready != 2 {
			return fmt.Errorf("%d are", ready)
		}
		return nil
	})
	w.Logf("two managers are ready after %s", time.Since(began).Round(100*time.Millisecond))
}

// killProgram ends the processes of a pod but for that which holds its namespaces, as a kernel does that is out of memory.
func (w *world) killProgram(pod *corev1.Pod) {
	w.Helper()
	found := false
	files := must.Value(filepath.Glob("/proc/[0-9]*/cgroup"))(w)
	for _, file := range files {
		groups, _ := os.ReadFile(file) // it may have ended
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if strings.Contains(string(groups), string(pod.UID)) && strings.HasPrefix(string(command), "/fairlead-manager\x00") {
			must.NoError(w, syscall.Kill(must.Value(strconv.Atoi(filepath.Base(filepath.Dir(file))))(w), syscall.SIGKILL))
			found = true
		}
	}
	if !found {
		w.Fatalf("no process of pod %s was found", pod.Name)
	}
}

// catalogPods: an image without a file-based catalog is run, and when its server does not run its CatalogSource says why.
func (w *world) catalogPods() {
	const name, crash = "crashing", "ended with exit code 1 (Error: usage: program serve"
	w.make(&v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: name},
		Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: strings.Replace(w.image, w.status.Registry, w.status.PodRegistry, 1)}})
	source := &v1alpha1.CatalogSource{}
	must.EventuallyWithin(w, "the CatalogSource says why its pod does not run", 2*time.Minute, func() error {
		if err := w.Get(w.Context(), client.ObjectKey{Namespace: "olm", Name: name}, source); err != nil {
			return err
		}
		state := ""
		if c := source.Status.GRPCConnectionState; c != nil {
			state = c.LastObservedState
		}
		if said := source.Status.Message + fmt.Sprint(source.Status.Conditions); !strings.Contains(said, crash) {
			return fmt.Errorf("state %q: %s", state, said)
		}
		if state != "TRANSIENT_FAILURE" {
			return fmt.Errorf("its state is %q", state)
		}
		return nil
	})
	w.Logf("%s: %s %v", source.Status.GRPCConnectionState.LastObservedState, source.Status.Message, source.Status.Conditions)
	said, _ := w.fairlead("status", name, "-n", "olm")
	must.Contain(w, "what fairlead status says", strings.Join(strings.Fields(said), " "), crash)
	w.remove(source)
}

// nodeLoss stops kubelet, after which the cluster knows of no pod that works: operators are said to be down, and work again when it goes on.
func (w *world) nodeLoss() {
	const name = "plain"
	w.subscribe(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "v0-" + name}}, name, true)
	w.extend(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "v1-" + name}}, name)
	works := func() error { return errors.Join(w.csvSucceeds("v0-"+name, name+".v1.0.0"), w.extensionWorks(name)) }
	w.eventually("the operator works", func(context.Context) error { return works() })
	kubelet := 0
	for _, c := range w.status.Components {
		if c.Name == "kubelet" {
			kubelet = c.PID
		}
	}
	must.NoError(w, syscall.Kill(kubelet, syscall.SIGSTOP))
	goOn := func() { _ = syscall.Kill(kubelet, syscall.SIGCONT) }
	w.Cleanup(goOn)
	began := time.Now()
	must.EventuallyWithin(w, "both APIs say that the operator is down", 2*time.Minute, func() error {
		if w.csvSucceeds("v0-"+name, name+".v1.0.0") == nil || w.extensionWorks(name) == nil {
			deployment := &appsv1.Deployment{}
			err := w.Get(w.Context(), client.ObjectKey{Namespace: "v0-" + name, Name: name}, deployment)
			return fmt.Errorf("they are content; Deployment: %+v (%w)", deployment.Status, err)
		}
		return nil
	})
	w.Logf("%s after kubelet was stopped: %v", time.Since(began).Round(time.Second), works())
	goOn()
	began = time.Now()
	must.EventuallyWithin(w, "the operator works again", 2*time.Minute, works)
	w.Logf("it works again %s after kubelet goes on", time.Since(began).Round(time.Second))
}

// extensionWorks is nil when what a ClusterExtension has installed is available.
func (w *world) extensionWorks(name string) error {
	e := &olmv1.ClusterExtension{}
	if err := w.Get(w.Context(), client.ObjectKey{Name: name}, e); err != nil {
		return err
	}
	if !meta.IsStatusConditionTrue(e.Status.Conditions, olmv1.TypeAvailable) || !meta.IsStatusConditionTrue(e.Status.Conditions, olmv1.TypeInstalled) {
		return fmt.Errorf("%s: %v", name, e.Status.Conditions)
	}
	return nil
}
