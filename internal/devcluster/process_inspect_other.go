//go:build !linux

package devcluster

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// processStartTime identifies, together with the process id, one process for good: ids are used again, start times are not.
func processStartTime(pid int) (string, error) { return ps(pid, "lstart=") }

// memoryOf is the resident set size of a process in bytes, the nearest thing to its share that can be had here.
func memoryOf(pid int) (int64, error) {
	kib, err := ps(pid, "rss=")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(kib, 10, 64)
	return n << 10, err
}

func ps(pid int, format string) (string, error) {
	out, err := exec.Command("ps", "-o", format, "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", fmt.Errorf("ps of process %d: %w", pid, err)
	}
	return strings.TrimSpace(string(out)), nil
}
