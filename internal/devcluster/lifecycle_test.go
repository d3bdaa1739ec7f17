package devcluster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/test/must"
)

func TestRestartKeepsObjectsAndAddresses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	options := Options{Name: "restarted", DataDir: dir, Nodes: 2}
	first := startCluster(t, options)
	client := clientOf(t, first)
	_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	must.Value(client.AppsV1().Deployments("default").Create(t.Context(), deployment("web", 2), metav1.CreateOptions{}))(t)
	awaitAvailable(t, client, "default", "web", 2)
	before := podAddresses(t, first)
	// The shared cluster runs beside this one.
	if _, err := fixtureClient(t).CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the object is in another cluster too: %v", err)
	}

	_, err = Start(t.Context(), Options{DataDir: dir, Executable: "unused"})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("a second start on the directory gives %v, want a LockedError that names process %d", err, os.Getpid())
	}
	modes(t, dir)
	kubeconfig, api, registry := read(t, first.KubeconfigPath), first.RESTConfig().Host, first.Registry
	first.Stop()
	if err := first.Err(); err != nil {
		t.Errorf("a stopped cluster has the error %v", err)
	}

	failed := make(chan string, 10)
	options.Progress = func(component string, state State) {
		if state == Failed {
			failed <- component
		}
	}
	second := startCluster(t, options)
	client = clientOf(t, second)
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Errorf("the object is gone: %v", err)
	}
	if second.RESTConfig().Host != api || second.Registry != registry {
		t.Errorf("addresses are %s and %s, they were %s and %s", second.RESTConfig().Host, second.Registry, api, registry)
	}
	usable(t, kubeconfig)
	if diff := cmp.Diff(before, podAddresses(t, second)); diff != "" {
		t.Errorf("the pods have other addresses: %s", diff)
	}
	must.Value(client.AppsV1().Deployments("default").Create(t.Context(), deployment("more", 2), metav1.CreateOptions{}))(t)
	awaitAvailable(t, client, "default", "more", 2)
	all := podAddresses(t, second)
	if slices.Sort(all); len(all) != 4 || len(slices.Compact(all)) != 4 {
		t.Errorf("4 pods have the addresses %v", all)
	}
	// Check that the loss of one component ends the cluster with its reason.
	status := second.Status()
	starts := startTimes(t, status)
	for _, c := range status.Components {
		if c.Name == Scheduler {
			syscall.Kill(c.PID, syscall.SIGKILL)
		}
	}
	if err := second.Err(); err == nil || !strings.Contains(err.Error(), "kube-scheduler ended (signal: killed)\nlast lines of ") {
		t.Errorf("the cluster stopped because of %v", err)
	}
	if got := alive(status, starts); len(got) != 0 {
		t.Errorf("%v still run", got)
	}
	if read(t, filepath.Join(status.DataDir, "logs", "kube-scheduler.log")) == "" {
		t.Error("the log of the scheduler is empty")
	}
	if component := <-failed; component != Scheduler || len(failed) > 0 {
		t.Errorf("%s failed, and %d more", component, len(failed))
	}
}

// podAddresses lists the addresses of the pods in namespace default.
func podAddresses(t *testing.T, cluster *Cluster) []string {
	t.Helper()
	pods := must.Value(clientOf(t, cluster).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))(t)
	var found []string
	for _, pod := range pods.Items {
		found = append(found, pod.Status.PodIP)
	}
	return found
}

func startTimes(t *testing.T, status Status) map[int]string {
	t.Helper()
	times := map[int]string{}
	for _, c := range status.Components {
		var err error
		if times[c.PID], err = processStartTime(c.PID); err != nil {
			t.Fatal(err)
		}
	}
	return times
}

func TestFailureDuringStartIsExplained(t *testing.T) {
	t.Run("a component that ends", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "data")
		must.NoError(t, dataDir(dir).create())
		must.NoError(t, os.WriteFile(dataDir(dir).path(etcdDir), []byte("not a directory"), 0o600))
		_, err := Start(t.Context(), Options{DataDir: dir, Executable: hostProgram(t)})
		want := []string{"etcd ended (exit status 1)", "last lines of " + filepath.Join(dir, "logs", "etcd.log"), "not a directory"}
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("no %q in the error: %v", text, err)
			}
		}
	})
	t.Run("when time is up", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "data")
		_, err := Start(t.Context(), Options{DataDir: dir, Executable: hostProgram(t), StartTimeout: 500 * time.Millisecond})
		for _, text := range []string{"wait for ", "not ready after 500ms; last answer: ", filepath.Join(dir, "logs")} {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("no %q in the error: %v", text, err)
			}
		}
		if isLocked(dataDir(dir).path(lockFile)) {
			t.Error("the data directory is still locked")
		}
	})
}

func read(t *testing.T, path string) string {
	t.Helper()
	content := must.Value(os.ReadFile(path))(t)
	return string(content)
}
