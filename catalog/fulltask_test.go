package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"
)

// taskVariable makes a process of this test program one of the tasks that are
// measured, as its peak of memory is that of the whole process.
const taskVariable = "FAIRLEAD_TEST_CATALOG_TASK"

func TestMain(m *testing.M) {
	if task := os.Getenv(taskVariable); task != "" {
		if err := perform(task, os.Args[1], os.Args[2], json.NewEncoder(os.Stdout)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// measured is what a task tells about itself.
type measured struct {
	Seconds, CPUSeconds  float64
	PeakMiB, ResidentMiB float64
}

func perform(task, dir, cacheDir string, out *json.Encoder) error {
	start := time.Now()
	var x *catalog.Index
	switch task {
	case "validate":
		c, err := catalog.Load(context.Background(), os.DirFS(dir), catalog.LoadOptions{DropPayloads: true})
		if err != nil {
			return err
		}
		if err := catalog.Validate(c).Err(); err != nil {
			return err
		}
	case "open":
		cache, err := catalogstore.OpenCache(cacheDir)
		if err != nil {
			return err
		}
		if x, err = cache.Dir(context.Background(), dir); err != nil {
			return err
		}
	default:
		return fmt.Errorf("there is no task %q", task)
	}
	m := measured{Seconds: time.Since(start).Seconds(), CPUSeconds: cpuSeconds()}
	if x != nil {
		time.Sleep(time.Second) // idle
	}
	var err error
	if m.PeakMiB, m.ResidentMiB, err = memory(); err != nil {
		return err
	}
	runtime.KeepAlive(x)
	return out.Encode(m)
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(fmt.Sprintf("the time used cannot be read: %v", err))
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// memory is the most that was ever resident, and what is now.
func memory() (peak, resident float64, err error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		switch key {
		case "VmHWM":
			peak = float64(kib) / 1024
		case "VmRSS":
			resident = float64(kib) / 1024
		}
	}
	return peak, resident, nil
}

// measure has a process of its own perform a task.
func measure(b *testing.B, task, dir, cacheDir string) (m measured) {
	b.Helper()
	self := must.Value(os.Executable())(b)
	cmd := exec.Command(self, dir, cacheDir)
	cmd.Env = append(os.Environ(), taskVariable+"="+task)
	cmd.Stderr = os.Stderr
	out := must.Value(cmd.Output())(b)
	must.NoError(b, json.Unmarshal(out, &m))
	return m
}
