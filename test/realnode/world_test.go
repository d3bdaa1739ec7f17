package realnode

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/devcluster/realnode"
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
	image        string
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
	w := &world{T: t, program: must.Value(devcluster.Program())(t), dir: filepath.Join(t.TempDir(), "data")}
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

func (w *world) start() {
	w.Helper()
	began := time.Now()
	out := w.run("start", "--real-node", "-o", "json")
	must.NoErrorf(w, json.Unmarshal([]byte(out), &w.status), "read the status of the cluster in %s", out)
	w.config = must.Value(clientcmd.BuildConfigFromFlags("", w.status.Kubeconfig))(w)
	w.config.QPS = -1
	w.client = must.Value(kubernetes.NewForConfig(w.config))(w)
	w.Logf("the cluster with a real node is ready after %s, with %d MiB", time.Since(began).Round(100*time.Millisecond), w.status.MemoryBytes>>20)
}

// pushImage builds the program of the pods and pushes it to the cluster's registry.
func (w *world) pushImage() {
	w.Helper()
	file := filepath.Join(w.TempDir(), "program")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, "./program")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		w.Fatalf("build the program of the pods: %v\n%s", err, output)
	}
	content := must.Value(os.ReadFile(file))(w)
	var archive bytes.Buffer
	t := tar.NewWriter(&archive)
	must.NoError(w, t.WriteHeader(&tar.Header{Name: "program", Mode: 0o755, Size: int64(len(content))}))
	must.Value(t.Write(content))(w)
	must.NoError(w, t.Close())
	layer := must.Value(tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }))(w)
	image := must.Value(mutate.AppendLayers(empty.Image, layer))(w)
	image = must.Value(mutate.ConfigFile(image, func() *v1.ConfigFile {
		config := must.Value(image.ConfigFile())(w).DeepCopy()
		config.OS, config.Architecture = "linux", runtime.GOARCH
		config.Config = v1.Config{Entrypoint: []string{"/program"}, User: "65532"}
		return config
	}()))(w)
	w.image = w.status.Registry + "/test/program:1"
	must.NoError(w, remote.Write(must.Value(name.ParseReference(w.image))(w), image))
}
