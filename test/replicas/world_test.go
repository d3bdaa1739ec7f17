package replicas

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	home     = "olm"
	leaseKey = "fairlead-manager"
)

// world is a test, its cluster, and the replicas that it has started.
type world struct {
	harness.World
	mu       sync.Mutex
	replicas []*replica
}

// all are the replicas that were started so far, those too that have ended.
func (w *world) all() []*replica {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.replicas)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	w := &world{World: harness.World{T: t, Client: harness.Client(t, devcluster.Config()), Namespace: devcluster.Namespace(t)}}
	if err := w.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home}}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	w.Make(&operatorsv1.OperatorGroup{ObjectMeta: w.Named("all")})
	return w
}

// replica is a manager in a pod of its own. The pod is an object without a node; its program runs here, at an address on loopback that stands for that
// of the pod.
type replica struct {
	pod    *corev1.Pod
	ip, at string // of the pod, and where that is on loopback
	cmd    *exec.Cmd
	log    string
	ended  chan struct{}
	err    error
}

var started int

// replica starts one more, and returns when it is ready.
func (w *world) replica() *replica {
	w.Helper()
	started++
	r := &replica{ip: fmt.Sprintf("192.0.2.%d", 10+started), at: fmt.Sprintf("127.%d.%d.%d", 1+os.Getpid()>>8%250, os.Getpid()%250, 10+started), ended: make(chan struct{})}
	r.pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: fmt.Sprintf("replica-%d", started)},
		Spec: corev1.PodSpec{SchedulerName: "none", Containers: []corev1.Container{{Name: "manager", Image: "registry.example.com/manager:v1"}}}}
	w.Make(r.pod)
	dir := w.TempDir()
	r.log = filepath.Join(dir, "log")
	log := must.Value(os.Create(r.log))(w)
	r.cmd = exec.Command(os.Args[0], "--kubeconfig="+devcluster.Kubeconfig(), "--leader-election", "--leader-namespace="+home, "--store="+filepath.Join(dir, "store"), "--install-crds=false",
		"--accept-missing-policies", "--stable-after=0", "--metrics-plain", "--metrics-address="+r.at+":8443", "--health-address="+r.at+":8081", "--catalog-address="+r.at+":50051",
		"--catalog-http-plain", "--catalog-http-address="+r.at+":8090", "--package-address="+r.at+":5443")
	r.cmd.Env = append(os.Environ(), replicaVariable+"="+r.ip, manager.PodIPVariable+"="+r.ip, "POD_NAME="+r.pod.Name, "POD_NAMESPACE="+home, "POD_UID="+string(r.pod.UID))
	r.cmd.Stdout, r.cmd.Stderr = log, log
	must.NoErrorf(w, r.cmd.Start(), "start a replica")
	go func() {
		r.err = r.cmd.Wait()
		_ = log.Close()
		close(r.ended)
	}()
	w.mu.Lock()
	w.replicas = append(w.replicas, r)
	w.mu.Unlock()
	w.Cleanup(func() {
		if r.alive() {
			w.stop(r)
		}
		if w.Failed() {
			text, _ := os.ReadFile(r.log)
			w.Logf("%s said:\n%s", r.pod.Name, text[max(0, len(text)-8000):])
		}
	})
	w.Eventually(r.pod.Name+" to be ready", func() error {
		if !r.alive() {
			text, _ := os.ReadFile(r.log)
			w.Fatalf("%s ended: %v\n%s", r.pod.Name, r.err, text)
		}
		_, err := get(w.Context(), http.DefaultClient, "http://"+r.at+":8081/readyz")
		return err
	})
	return r
}

func (r *replica) alive() bool {
	select {
	case <-r.ended:
		return false
	default:
		return true
	}
}

// tell deletes the pod, and asks its program to stop, as a kubelet does.
func (w *world) tell(r *replica) {
	w.Helper()
	if err := w.Delete(context.WithoutCancel(w.Context()), r.pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
		w.Error(err)
	}
	must.NoErrorf(w, r.cmd.Process.Signal(syscall.SIGTERM), "stop a replica")
}

// stop does so, waits for it, and kills it as a kubelet does after 30 s.
func (w *world) stop(r *replica) {
	w.Helper()
	w.tell(r)
	select {
	case <-r.ended:
		if r.err != nil {
			w.Errorf("%s did not end well: %v", r.pod.Name, r.err)
		}
	case <-time.After(30 * time.Second):
		_ = r.cmd.Process.Kill()
		<-r.ended
		w.Errorf("%s had to be killed", r.pod.Name)
	}
}

// kill ends the program without a word, and its pod object with it.
func (w *world) kill(r *replica) {
	w.Helper()
	must.NoErrorf(w, r.cmd.Process.Kill(), "kill a replica")
	<-r.ended
	must.NoErrorf(w, client.IgnoreNotFound(w.Delete(w.Context(), r.pod, client.GracePeriodSeconds(0))), "delete the pod of a replica")
}

// get is the text that is read at a URL.
func get(ctx context.Context, c *http.Client, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	answer, err := c.Do(request)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return string(text), err
}

// leads reports whether a replica says that it leads.
func (r *replica) leads(ctx context.Context) (bool, error) {
	text, err := get(ctx, http.DefaultClient, "http://"+r.at+":8443/metrics")
	return strings.Contains(text, `leader_election_master_status{name="`+leaseKey+`"} 1`), err
}

// leader waits until one of the replicas leads, and returns it.
func (w *world) leader() (leads *replica) {
	w.Helper()
	w.Eventually("one to lead", func() error {
		for _, r := range w.replicas {
			if !r.alive() {
				continue
			}
			if ok, err := r.leads(w.Context()); err != nil {
				return err
			} else if ok {
				leads = r
				return nil
			}
		}
		return errors.New("none does")
	})
	return leads
}

func (w *world) lease() *coordinationv1.Lease {
	w.Helper()
	l := &coordinationv1.Lease{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Namespace: home, Name: leaseKey}, l))
	return l
}

func holder(l *coordinationv1.Lease) string {
	return fmt.Sprintf("%s, transition %d", ptr.Deref(l.Spec.HolderIdentity, ""), ptr.Deref(l.Spec.LeaseTransitions, 0))
}

// waiting is an operator that waits for a manager to act on it.
func (w *world) waiting() (name string) {
	w.Helper()
	started++
	name = fmt.Sprintf("operator-%d.v1", started)
	w.Make(fixture.Operator(w.Namespace, name, fixture.Deployments(fmt.Sprintf("manager-%d", started))))
	return name
}

// actedOn waits until a manager has acted on an operator, and returns how long that took since a time.
func (w *world) actedOn(name string, since time.Time) time.Duration {
	w.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	w.Eventually(name+" to be acted on", func() error {
		if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name}, csv); err != nil {
			return err
		}
		if csv.Status.Phase == "" {
			return errors.New("it has no phase")
		}
		return nil
	})
	return time.Since(since)
}
