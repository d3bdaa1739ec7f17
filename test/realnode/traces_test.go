package realnode

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"fairlead.dev/fairlead/test/must"
)

// traces are what a node leaves on a machine when it is not removed: network, mounts and processes of its directory, cgroups, settings of the kernel,
// and files that all nodes of a machine share.
func (w *world) traces() []string {
	w.Helper()
	found := strings.Split(strings.TrimSpace(string(must.Value(exec.Command("nft", "list", "tables").Output())(w))), "\n")
	for _, path := range []string{"/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/bridge/bridge-nf-call-iptables"} {
		found = append(found, path+"="+strings.TrimSpace(string(must.Value(os.ReadFile(path))(w))))
	}
	for _, pattern := range []string{
		"/sys/class/net/*", "/sys/fs/cgroup/*/kubepods", "/sys/fs/cgroup/kubepods", "/var/lib/kubelet", "/var/lib/cni/results/*",
		"/var/log/containers/*", "/var/log/pods/*", "/run/containerd/s/*", "/run/netns/*", "/run/fairlead-node/record.json",
	} {
		found = append(found, must.Value(filepath.Glob(pattern))(w)...)
	}
	for line := range strings.Lines(string(must.Value(os.ReadFile("/proc/self/mountinfo"))(w))) {
		if strings.Contains(line, w.dir) {
			found = append(found, "mount "+line)
		}
	}
	processes := must.Value(filepath.Glob("/proc/[0-9]*/cmdline"))(w)
	for _, file := range processes {
		command, _ := os.ReadFile(file) // it may have ended
		if strings.Contains(string(command), w.dir+"/") || string(command) == "/pause\x00" {
			found = append(found, "process "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	slices.Sort(found)
	return found
}
