package realnode

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// pluginDir is where Debian has the programs of CNI.
const pluginDir = "/usr/lib/cni"

// requirement is a program that the node runs, and the package of Debian that brings it.
type requirement struct{ program, pkg string }

var requirements = []requirement{
	{"containerd", "containerd"},
	{"ctr", "containerd"},
	{"containerd-shim-runc-v2", "containerd"},
	{"runc", "runc"},
	{filepath.Join(pluginDir, "bridge"), "containernetworking-plugins"},
	{filepath.Join(pluginDir, "host-local"), "containernetworking-plugins"},
	{filepath.Join(pluginDir, "loopback"), "containernetworking-plugins"},
	{"nft", "nftables"},
	{"iptables", "iptables"},
	{"ip", "iproute2"},
	{"mount", "mount"},
	{"umount", "mount"},
}

// Check says in one error all that this machine lacks, and how to get it.
func Check(serviceNetwork string) error {
	var why []string
	if os.Geteuid() != 0 {
		why = append(why, "it must be started by root, for network interfaces, mounts and cgroups: use sudo")
	}
	if runtime.GOARCH != "amd64" {
		why = append(why, "the processor is "+runtime.GOARCH+", and the container that holds a pod's namespaces is made for amd64 only")
	}
	if text := missing(requirements, exec.LookPath); text != "" {
		why = append(why, text)
	}
	if _, err := readSysctl(sysctls[1]); err != nil {
		why = append(why, "the kernel's module for bridges is not there: load it with: modprobe br_netfilter")
	}
	if os.Geteuid() == 0 {
		why = append(why, otherNode()...)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		why = append(why, fmt.Sprintf("the machine's addresses cannot be read: %v", err))
	}
	why = append(why, overlaps(addresses, podNetwork, serviceNetwork)...)
	if len(why) == 0 {
		return nil
	}
	return errors.New("this machine cannot be a real node:\n  - " + strings.Join(why, "\n  - "))
}

// missing names the programs that are not there, and one line that installs their packages.
func missing(all []requirement, find func(string) (string, error)) string {
	var programs, packages []string
	seen := map[string]bool{}
	for _, r := range all {
		if _, err := find(r.program); err == nil {
			continue
		}
		programs = append(programs, r.program)
		if !seen[r.pkg] {
			seen[r.pkg] = true
			packages = append(packages, r.pkg)
		}
	}
	if len(programs) == 0 {
		return ""
	}
	return fmt.Sprintf("not found: %s; install on Debian and its relatives with: apt-get install --no-install-recommends %s",
		strings.Join(programs, ", "), strings.Join(packages, " "))
}

// devicePlugins is a socket that every kubelet of a machine uses, whatever its directory.
const devicePlugins = "/var/lib/kubelet/device-plugins/kubelet.sock"

// otherNode finds a kubelet of another cluster. Both would take each other's cgroups and sockets.
func otherNode() []string {
	conn, err := net.Dial("unix", devicePlugins)
	if err != nil {
		return nil
	}
	_ = conn.Close()
	var taken *TakenError
	lock, err := lockMachine("")
	if errors.As(err, &taken) {
		return []string{taken.Error()}
	}
	if err == nil {
		_ = lock.Close()
	}
	return []string{"a kubelet runs here already (it answers on " + devicePlugins + "): stop it, or use another machine"}
}

// overlaps finds networks of this machine that have the addresses of the cluster's. The bridge of an earlier node is not one.
func overlaps(addresses []net.Addr, networks ...string) []string {
	var found []string
	for _, address := range addresses {
		own, err := netip.ParsePrefix(address.String())
		if err != nil || own.Addr().String() == Address {
			continue
		}
		for _, n := range networks {
			if taken, err := netip.ParsePrefix(n); err == nil && taken.Overlaps(own) {
				found = append(found, fmt.Sprintf("the machine's network %s has addresses of the cluster's network %s: leave that network, or use another machine", own.Masked(), n))
			}
		}
	}
	return found
}
