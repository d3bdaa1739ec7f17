package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// ticksPerSecond is the unit of processor times in /proc on Linux.
const ticksPerSecond = 100

// build builds fairlead, whose process the cluster is.
func build(b *testing.B) string {
	b.Helper()
	out := filepath.Join(b.TempDir(), "fairlead")
	if text, err := exec.CommandContext(b.Context(), "go", "build", "-o", out, "fairlead.dev/fairlead/cmd/fairlead").CombinedOutput(); err != nil {
		b.Fatalf("build fairlead: %v\n%s", err, text)
	}
	return out
}

// startCluster starts a cluster that nobody else uses, and returns its kubeconfig. It is stopped with the benchmark, or before.
func startCluster(b *testing.B) (kubeconfig string, stop func()) {
	b.Helper()
	client, err := devcluster.Detach(b.Context(), devcluster.Options{
		Name: "bench", DataDir: filepath.Join(b.TempDir(), "data"), Throwaway: true, Executable: build(b), IdleTimeout: time.Minute,
	})
	must.NoErrorf(b, err, "start a cluster")
	if _, err := client.Lease(b.Context()); err != nil {
		b.Fatalf("keep the cluster: %v", err)
	}
	stop = sync.OnceFunc(func() {
		if err := client.Stop(context.WithoutCancel(b.Context())); err != nil {
			b.Logf("stop the cluster: %v", err)
		}
	})
	b.Cleanup(stop)
	return client.KubeconfigPath(), stop
}

// process is a manager that runs.
type process struct {
	b               *testing.B
	pid             int
	metrics, health string // host:port
	stop            func() // may be called before the benchmark ends
}

// startManager runs the manager as it runs in its image, with more variables in its environment.
func startManager(b *testing.B, kubeconfig string, variables ...string) *process {
	b.Helper()
	return startManagerWith(b, kubeconfig, nil, variables...)
}

// startManagerWith is startManager with more flags.
func startManagerWith(b *testing.B, kubeconfig string, flags []string, variables ...string) *process {
	b.Helper()
	p := &process{b: b, metrics: harness.FreeAddress(b), health: harness.FreeAddress(b)}
	var log bytes.Buffer
	cmd := exec.Command(harness.BuildManager(b), append([]string{"--kubeconfig", kubeconfig, "--store", b.TempDir(),
		"--metrics-address", p.metrics, "--metrics-plain", "--health-address", p.health, "--package-address", "0"}, flags...)...)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Env = append(os.Environ(), variables...)
	must.NoErrorf(b, cmd.Start(), "start the manager")
	p.pid = cmd.Process.Pid
	p.stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if b.Failed() {
			b.Logf("the manager said:\n%s", log.String())
		}
	})
	b.Cleanup(p.stop)
	return p
}

// awaitReady waits until the manager says that it is ready.
func (p *process) awaitReady(until time.Time) {
	p.b.Helper()
	for time.Now().Before(until) {
		if response, err := http.Get("http://" + p.health + "/readyz"); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.b.Fatal("the manager is not ready in time")
}

// cpu is the processor time that the manager has used.
func (p *process) cpu() time.Duration {
	p.b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		p.b.Fatalf("read the processor time of the manager: %v", err)
	}
	// The second field is the name in parentheses; of those after it, the twelfth and thirteenth are times.
	rest := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var ticks int
	for _, field := range rest[11:13] {
		n := must.Value(strconv.Atoi(field))(p.b)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

// memory reads a line of the status of the process, in MB: VmRSS for the memory now, VmHWM for the most that there was.
func (p *process) memory(line string) float64 {
	p.b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		p.b.Fatalf("read the memory of the manager: %v", err)
	}
	for l := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(l, line+":"); ok {
			return float64(must.Value(strconv.Atoi(strings.Fields(value)[0]))(p.b)) * 1024 / 1e6
		}
	}
	p.b.Fatalf("there is no %s in the status of the manager", line)
	return 0
}

// writes counts the requests of the manager that change something, as it counts them itself.
func (p *process) writes() float64 {
	p.b.Helper()
	response, err := http.Get("http://" + p.metrics + "/metrics")
	if err != nil {
		p.b.Fatalf("read the metrics of the manager: %v", err)
	}
	defer response.Body.Close()
	var total float64
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if !strings.HasPrefix(name, "rest_client_requests_total{") || strings.Contains(name, `method="GET"`) {
			continue
		}
		n := must.Value(strconv.ParseFloat(value, 64))(p.b)
		total += n
	}
	return total
}
