package devcluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

func TestLockHasOneOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if isLocked(path) {
		t.Fatal("a lock that is not there is held")
	}
	lock, err := tryLock(path, "the-directory")
	if err != nil {
		t.Fatal(err)
	}
	if !isLocked(path) {
		t.Error("a taken lock is not held")
	}
	_, err = tryLock(path, "the-directory")
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || !strings.Contains(err.Error(), "the-directory is in use by process ") {
		t.Errorf("the second owner gets %v, want a LockedError that names process %d", err, os.Getpid())
	}
	lock.Close()
	if isLocked(path) {
		t.Error("a released lock is held")
	}
	again, err := tryLock(path, "")
	must.NoErrorf(t, err, "the lock cannot be taken again")
	again.Close()
}

func TestWaitLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first := must.Value(waitLock(path))(t)
	taken := make(chan error, 1)
	go func() {
		second, err := waitLock(path)
		if err == nil {
			second.Close()
		}
		taken <- err
	}()
	select {
	case <-taken:
		t.Fatal("two owners at once")
	case <-time.After(50 * time.Millisecond):
	}
	first.Close()
	if err := <-taken; err != nil {
		t.Error(err)
	}
}
