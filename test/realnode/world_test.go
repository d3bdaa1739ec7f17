package realnode

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/devcluster/realnode"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

const switchedOn = "FAIRLEAD_TEST_REALNODE"

// world is a cluster with a real node, started by the command as a user does.
type world struct {
	*testing.T
	program, dir string
	status       devcluster.Status
	config       *rest.Config
	client       kubernetes.Interface
	// image is the name of the program of the pods, and made the image.
	image string
	made  v1.Image
	// Client knows the project's APIs.
	client.Client
}

func newWorld(t *testing.T) *world {
	if os.Getenv(switchedOn) == "" {
		t.Skipf("takes this machine as a node: say so with %s=1, on Linux as root, with the packages containerd, runc, containernetworking-plugins, nftables and iptables", switchedOn)
	}
	if runtime.GOOS != "linux" {
		t.Skip("a real node needs Linux")
	}
	must.NoError(t, devcluster.CleanUpNode())
	if err := realnode.Check("10.96.0.0/16"); err != nil {
		t.Skip(err)
	}
	w := &world{T: t, program: filepath.Join(t.TempDir(), "fairlead"), dir: filepath.Join(t.TempDir(), "data")}
	// A copy: tests of another clone on the machine build theirs to the same place.
	must.NoError(t, os.WriteFile(w.program, must.Value(os.ReadFile(must.Value(devcluster.Program())(t)))(t), 0o755))
	t.Cleanup(func() { w.run("stop") })
	return w
}

// run runs a command about the cluster.
func (w *world) run(command string, args ...string) string {
	w.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(w.program, append([]string{"cluster", command, "--name", "real", "--data-dir", w.dir}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		w.Fatalf("fairlead cluster %s: %v\n%s%s", command, err, &out, &errs)
	}
	return out.String()
}

// step is a part of a story, which is reported by itself.
func (w *world) step(name string, do func(*world)) {
	w.Run(name, func(t *testing.T) {
		part := *w
		part.T = t
		do(&part)
	})
}

// fairlead runs a command against the cluster, and returns all that it says.
func (w *world) fairlead(args ...string) (text string, err error) {
	cmd := exec.CommandContext(w.Context(), w.program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.status.Kubeconfig)
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// make creates objects, and remove deletes them.
func (w *world) make(objects ...client.Object) {
	w.Helper()
	harness.Create(w, w.Client, objects...)
}

func (w *world) remove(objects ...client.Object) {
	w.Helper()
	harness.Remove(w, w.Client, objects...)
}

// does runs a command that has to succeed.
func (w *world) does(args ...string) string {
	w.Helper()
	text, err := w.fairlead(args...)
	must.NoErrorf(w, err, "fairlead %v: %s", args, text)
	return text
}

func (w *world) start() {
	w.Helper()
	began := time.Now()
	out := w.run("start", "--real-node", "-o", "json")
	must.NoErrorf(w, json.Unmarshal([]byte(out), &w.status), "read the status of the cluster in %s", out)
	w.config = must.Value(clientcmd.BuildConfigFromFlags("", w.status.Kubeconfig))(w)
	w.config.QPS = -1
	w.client = must.Value(kubernetes.NewForConfig(w.config))(w)
	w.Client = harness.ClientOf(w, w.config)
	w.Logf("the cluster with a real node is ready after %s, with %d MiB", time.Since(began).Round(100*time.Millisecond), w.status.MemoryBytes>>20)
}
