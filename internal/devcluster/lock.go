package devcluster

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// LockedError says that another process runs a cluster on the data directory.
type LockedError struct {
	DataDir string
	PID     int
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("data directory %s is in use by process %d: stop that cluster first, or choose another directory or name", e.DataDir, e.PID)
}

// tryLock takes an exclusive lock, or returns a LockedError. The kernel drops it when the file is closed, or the process ends.
func tryLock(path, dataDir string) (*os.File, error) {
	file, err := openLock(path)
	if err != nil {
		return nil, err
	}
	err = flock(file, syscall.LOCK_EX|syscall.LOCK_NB)
	for range 3 {
		if err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond) // isLocked of another process holds it for an instant
		err = flock(file, syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer file.Close()
		return nil, &LockedError{DataDir: dataDir, PID: lockOwner(path)}
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := file.Truncate(0); err != nil {
		return file, fmt.Errorf("record the owner of the lock: %w", err)
	}
	if _, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return file, fmt.Errorf("record the owner of the lock: %w", err)
	}
	return file, nil
}

// waitLock takes the lock when it becomes free.
func waitLock(path string) (*os.File, error) {
	file, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err := flock(file, syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return file, nil
}

func openLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	return file, nil
}

// flock tries again when a signal interrupts the wait.
func flock(file *os.File, how int) error {
	for {
		err := syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// lockOwner is the process id written by the holder, or 0 in the instant before it is written.
func lockOwner(path string) int {
	content, _ := os.ReadFile(path)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(content)))
	return pid
}

// isLocked tells whether a process holds the lock.
func isLocked(path string) bool {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(flock(file, syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
