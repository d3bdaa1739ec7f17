package devcluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

func TestKilledSupervisorTakesComponentsAlong(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("deep", 20)) // its sockets are elsewhere
	client := must.Value(Detach(t.Context(), Options{Name: "killed", DataDir: dir, Throwaway: true, Executable: hostProgram(t)}))(t)
	status := must.Value(client.Status(t.Context()))(t)
	if len(status.Components) != 5 {
		t.Fatalf("components are %+v", status.Components)
	}
	starts := startTimes(t, status)
	if got := alive(status, starts); len(got) != 5 {
		t.Fatalf("only %v run", got)
	}
	must.NoError(t, syscall.Kill(status.PID, syscall.SIGKILL))
	eventually(t, "the components end", func(context.Context) (bool, error) { return len(alive(status, starts)) == 0, nil })
	if _, err := Connect(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("connecting to a killed cluster gives %v", err)
	}
}

func TestStopFromAnotherProcess(t *testing.T) {
	sweep.Nightly(t, "TestClusterFromStartToStop in internal/cli")
	options := Options{Name: "stopped", DataDir: filepath.Join(t.TempDir(), "data"), Executable: hostProgram(t)}
	client := must.Value(Detach(t.Context(), options))(t)
	status := must.Value(client.Status(t.Context()))(t)
	t.Logf("start took %.1f s, memory is %d MiB", status.StartSeconds, status.MemoryBytes>>20)
	starts := startTimes(t, status)
	if err := client.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if got := alive(status, starts); len(got) != 0 {
		t.Errorf("%v still run", got)
	}
	if _, err := Connect(options.DataDir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("connecting to a stopped cluster gives %v", err)
	}
}

func TestClusterWithoutClientsStops(t *testing.T) {
	cluster := startCluster(t, Options{
		Name: "idle", DataDir: filepath.Join(t.TempDir(), "data"), Throwaway: true, IdleTimeout: 500 * time.Millisecond,
	})
	client := must.Value(Connect(cluster.Status().DataDir))(t)
	giveBack := must.Value(client.Lease(t.Context()))(t)
	select {
	case <-cluster.Done():
		t.Fatalf("the cluster stopped although a lease was held: %v", cluster.Err())
	case <-time.After(time.Second):
	}
	giveBack()
	if err := cluster.Err(); err != nil {
		t.Errorf("the cluster stopped because of %v", err)
	}
	if _, err := os.Stat(cluster.dir.path()); !os.IsNotExist(err) {
		t.Errorf("a throwaway cluster left its directory: %v", err)
	}
}
