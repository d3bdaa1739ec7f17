package realnode

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sysctls are set to 1: packets go from pods to other networks, and those between pods pass the rules that give Services their addresses.
var sysctls = []string{"net.ipv4.ip_forward", "net.bridge.bridge-nf-call-iptables"}

func sysctlPath(key string) string {
	return filepath.Join("/proc/sys", strings.ReplaceAll(key, ".", "/"))
}

func readSysctl(key string) (string, error) {
	content, err := os.ReadFile(sysctlPath(key))
	return strings.TrimSpace(string(content)), err
}

func writeSysctl(key, value string) error {
	if err := os.WriteFile(sysctlPath(key), []byte(value), 0o600); err != nil {
		return fmt.Errorf("set the kernel's %s to %s: %w", key, value, err)
	}
	return nil
}

// run returns the output of a program in its error.
func run(program string, args ...string) error {
	if output, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(string(output)))
	}
	return nil
}

// checkAddresses refuses a bridge of the same name: it is not ours, or it would have been removed by now.
func checkAddresses() error {
	if _, err := net.InterfaceByName(bridge); err == nil {
		return fmt.Errorf("network interface %s exists already and belongs to no cluster of this program: remove it with: ip link del %s", bridge, bridge)
	}
	return nil
}

// makeNetwork makes the bridge that all pods are at, and lets them out under the machine's own address.
func makeNetwork() error {
	_, bits, _ := strings.Cut(podNetwork, "/")
	for _, args := range [][]string{
		{"link", "add", bridge, "type", "bridge"},
		{"addr", "add", Address + "/" + bits, "dev", bridge},
		{"link", "set", bridge, "up"},
	} {
		if err := run("ip", args...); err != nil {
			return fmt.Errorf("make the network of pods: %w", err)
		}
	}
	rules := fmt.Sprintf("table ip %s {\n  chain out {\n    type nat hook postrouting priority srcnat;\n    ip saddr %s oifname != %q masquerade\n  }\n}\n", network, podNetwork, bridge)
	command := exec.Command("nft", "-f", "-")
	command.Stdin = strings.NewReader(rules)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("let pods out of this machine: nft: %w: %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

// removeNetwork removes the bridge and all tables, those of kube-proxy too. Interfaces of pods go with their network namespaces.
func removeNetwork() []error {
	var failed []error
	if _, err := net.InterfaceByName(bridge); err == nil {
		failed = append(failed, run("ip", "link", "del", bridge))
	}
	tables, err := exec.Command("nft", "list", "tables").Output()
	if err != nil {
		return append(failed, fmt.Errorf("nft list tables: %w", err))
	}
	for line := range strings.Lines(string(tables)) {
		// table ip kube-proxy
		fields := strings.Fields(line)
		if len(fields) == 3 && (fields[2] == network || fields[2] == "kube-proxy") {
			failed = append(failed, run("nft", "delete", "table", fields[1], fields[2]))
		}
	}
	return failed
}
