package realnode

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	kubeletDefaultDir = "/var/lib/kubelet"
	cniResults        = "/var/lib/cni/results"
	shimSockets       = "/run/containerd/s"
	containerLogs     = "/var/log/containers"
)

// emptied are the directories of the node whose content is of pods, containers and images. Images are pulled again; the cluster's registry keeps its own.
var emptied = []string{"addresses", "cni", "containerd", "kubelet", "kubelet-certs", "pod-logs", "registries", "runc", "state", "volume-plugins"}

// cleanRecorded undoes what the record says, and deletes it when that is done. All steps are tried, and each may be repeated.
func cleanRecorded() error {
	r, found, err := readRecord()
	if err != nil || !found {
		return err
	}
	failed := []error{endContainers(r.Socket), unmountBelow(r.Dir)}
	failed = append(failed, removeNetwork()...)
	for key, value := range r.Sysctls {
		failed = append(failed, writeSysctl(key, value))
	}
	failed = append(failed, removeCgroups("/sys/fs/cgroup"))
	removeTraces(r)
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if err := empty(r.Dir); err != nil {
		return err
	}
	if !r.KubeletDirWasThere {
		_ = os.RemoveAll(kubeletDefaultDir) // only the socket of device plugins was put there
	}
	return os.Remove(filepath.Join(runDir, recordFile))
}

// empty deletes what is of pods. Nothing may be mounted there any more: it would be deleted too.
func empty(dir string) error {
	for _, name := range emptied {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("empty the directory of the node: %w", err)
		}
	}
	return nil
}

// endContainers kills the shims of our containerd, which have its socket in their command line, and before them the containers, which are
// their children. A container of which a shim is not the parent any more has ended with its first process.
func endContainers(socket string) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		processes := listProcesses()
		var shims, containers []int
		for pid, p := range processes {
			if p.isShim(socket) {
				shims = append(shims, pid)
				containers = append(containers, descendants(processes, pid)...)
			}
		}
		if len(shims) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("end the containers of the node: processes %v do not end", shims)
		}
		for _, pid := range append(containers, shims...) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// runningProcess is what is needed to know a shim and its containers.
type runningProcess struct {
	parent int
	args   []string
}

func (p runningProcess) isShim(socket string) bool {
	i := slices.Index(p.args, "-address")
	return len(p.args) > 0 && filepath.Base(p.args[0]) == "containerd-shim-runc-v2" && i >= 0 && i+1 < len(p.args) && p.args[i+1] == socket
}

// listProcesses leaves out those that have ended and wait for their parent.
func listProcesses() map[int]runningProcess {
	found := map[int]runningProcess{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		// The second field is a name in parentheses and may contain anything; state and parent follow it.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 || string(fields[0]) == "Z" {
			continue
		}
		parent, _ := strconv.Atoi(string(fields[1]))
		found[pid] = runningProcess{parent, strings.Split(strings.TrimRight(string(command), "\x00"), "\x00")}
	}
	return found
}

func descendants(all map[int]runningProcess, of int) []int {
	var found []int
	for pid, p := range all {
		if p.parent == of {
			found = append(append(found, pid), descendants(all, pid)...)
		}
	}
	return found
}

// unmountBelow takes away what containerd and kubelet mounted, the last first.
func unmountBelow(dir string) error {
	for range 5 { // what was mounted several times at one place is there several times
		mounts, err := mountsBelow(dir)
		if err != nil || len(mounts) == 0 {
			return err
		}
		for _, target := range slices.Backward(mounts) {
			if err := unix.Unmount(target, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
				return fmt.Errorf("unmount %s: %w", target, err)
			}
		}
	}
	left, err := mountsBelow(dir)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("unmount what pods had mounted: still there: %s", strings.Join(left, ", "))
	}
	return err
}

func mountsBelow(dir string) ([]string, error) {
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("list mounts: %w", err)
	}
	return parseMounts(string(info), dir), nil
}

// parseMounts returns the mount points below a directory in the order of their making.
func parseMounts(mountinfo, dir string) []string {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var found []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		if target := unescape.Replace(fields[4]); strings.HasPrefix(target, dir+"/") {
			found = append(found, target)
		}
	}
	return found
}

// removeCgroups removes those that kubelet made, which are empty by now, the innermost first. There is one hierarchy, or one for each controller.
func removeCgroups(root string) error {
	tops, _ := filepath.Glob(filepath.Join(root, "*", "kubepods"))
	if exists(filepath.Join(root, "kubepods")) {
		tops = append(tops, filepath.Join(root, "kubepods"))
	}
	var failed []error
	for _, top := range tops {
		var dirs []string
		_ = filepath.WalkDir(top, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		for _, dir := range slices.Backward(dirs) {
			err := unix.Rmdir(dir)
			for deadline := time.Now().Add(2 * time.Second); errors.Is(err, unix.EBUSY) && time.Now().Before(deadline); err = unix.Rmdir(dir) {
				time.Sleep(20 * time.Millisecond) // its processes were killed and are still ending
			}
			if err != nil && !errors.Is(err, unix.ENOENT) {
				failed = append(failed, fmt.Errorf("remove cgroup %s: %w", dir, err))
			}
		}
	}
	return errors.Join(failed...)
}

// removeTraces removes small files in directories that all of a machine's nodes share. None of them matters to the next start.
func removeTraces(r record) {
	results, _ := filepath.Glob(filepath.Join(cniResults, network+"-*"))
	for _, path := range results {
		_ = os.Remove(path)
		// network-CONTAINER-interface; the container's loopback interface has a file as well
		container := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), network+"-"), "-eth0")
		_ = os.Remove(filepath.Join(cniResults, "cni-loopback-"+container+"-lo"))
	}
	sockets, _ := filepath.Glob(filepath.Join(shimSockets, "*"))
	for _, path := range sockets {
		if conn, err := net.Dial("unix", path); err == nil {
			_ = conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(path) // of a shim that was killed
		}
	}
	links, _ := filepath.Glob(filepath.Join(containerLogs, "*.log"))
	for _, path := range links {
		if target, err := os.Readlink(path); err == nil && strings.HasPrefix(target, r.Dir+"/") {
			_ = os.Remove(path)
		}
	}
}
