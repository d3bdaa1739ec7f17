package devcluster

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// processStartTime identifies, together with the process id, one process for good: ids are used again, start times are not.
func processStartTime(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The second field is the program's name in parentheses and may contain anything; the start time is the 22nd.
	_, rest, ok := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(" "))
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 20 {
		return "", fmt.Errorf("unexpected content of /proc/%d/stat", pid)
	}
	return string(fields[19]), nil
}

// memoryOf is the proportional set size of a process in bytes: its own pages and its share of those that several processes
// map, so that the sum over a family of processes is what they take together.
func memoryOf(pid int) (int64, error) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(rollup) {
		if value, ok := bytes.CutPrefix(line, []byte("Pss:")); ok {
			kib, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(value), []byte("kB")))), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no Pss line in /proc/%d/smaps_rollup", pid)
}
