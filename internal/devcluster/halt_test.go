package devcluster

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestAnotherProcessIsNotSignalled(t *testing.T) {
	dir := dataDir(t.TempDir())
	tests := map[string]record{
		"an id that was used again": {PID: os.Getpid(), ProcessStart: "before"},
		"an id that nobody has":     {PID: 1 << 30, ProcessStart: "before"},
	}
	for name, r := range tests {
		t.Run(name, func(t *testing.T) {
			client := &Client{dir: dir, record: r}
			err := client.signal(syscall.SIGKILL) // would end this very process
			must.Fail(t, "client.signal", err, "is not its supervisor any more")
		})
	}
}

// A supervisor that holds the lock but neither answers nor is the recorded process cannot be stopped, and that is said.
func TestStopOfASilentSupervisor(t *testing.T) {
	dir := dataDir(t.TempDir())
	lock := must.Value(tryLock(dir.path(lockFile), string(dir)))(t)
	defer lock.Close()
	must.NoError(t, dir.writeRecord(record{PID: os.Getpid(), ProcessStart: "before", Control: filepath.Join(string(dir), "control.sock")}))
	client := must.Value(Connect(string(dir)))(t)
	must.Fail(t, "client.Stop", client.Stop(t.Context()), "left alone")
	_, err := client.Status(t.Context())
	must.Fail(t, "the status", err, "control.sock")
}
