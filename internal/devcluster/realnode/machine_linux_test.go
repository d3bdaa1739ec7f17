package realnode

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestMissingPrograms(t *testing.T) {
	has := func(names ...string) func(string) (string, error) {
		return func(program string) (string, error) {
			for _, name := range names {
				if program == name {
					return program, nil
				}
			}
			return "", errors.New("not found")
		}
	}
	some := []requirement{{"a", "p"}, {"b", "p"}, {"c", "q"}}
	must.Equal(t, "with all", missing(some, has("a", "b", "c")), "")
	must.Equal(t, "with none", missing(some, has()), "not found: a, b, c; install on Debian and its relatives with: apt-get install --no-install-recommends p q")
	must.Equal(t, "with one of two of a package", missing(some, has("a", "c")), "not found: b; install on Debian and its relatives with: apt-get install --no-install-recommends p")
}

func TestOverlappingNetworks(t *testing.T) {
	address := func(cidr string) net.Addr {
		ip, network, err := net.ParseCIDR(cidr)
		must.NoError(t, err)
		return &net.IPNet{IP: ip, Mask: network.Mask}
	}
	for name, c := range map[string]struct {
		cidr string
		want string // part of the message, or none
	}{
		"another":                      {"192.168.1.5/24", ""},
		"of the other kind":            {"fd00::2/64", ""},
		"the same":                     {"10.129.0.9/24", "network 10.129.0.0/24 has addresses of the cluster's network 10.129.0.0/24"},
		"one that has it in it":        {"10.0.0.1/8", "network 10.0.0.0/8 has addresses of the cluster's network 10.129.0.0/24"},
		"the bridge of an earlier one": {Address + "/24", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(overlaps([]net.Addr{address(c.cidr)}, podNetwork), "\n")
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestMountsOfADirectory(t *testing.T) {
	const info = `22 1 254:0 / / rw - ext4 /dev/vda rw
30 22 0:26 / /data/node/state/a\040b/rootfs rw - overlay overlay rw
31 22 0:27 / /data/node/kubelet rw shared:7 - ext4 /dev/vda rw
32 22 0:28 / /data/node2/kubelet rw - ext4 /dev/vda rw
33 22 0:29 / /data/node rw - tmpfs tmpfs rw
short line
`
	must.Equal(t, "mounts below /data/node", parseMounts(info, "/data/node"), []string{"/data/node/state/a b/rootfs", "/data/node/kubelet"})
}

// TestShims are known by the socket of their containerd alone.
func TestShims(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want bool
	}{
		"ours":                    {[]string{"/usr/bin/containerd-shim-runc-v2", "-namespace", "k8s.io", "-id", "x", "-address", "/d/cri.sock"}, true},
		"of another containerd":   {[]string{"/usr/bin/containerd-shim-runc-v2", "-id", "x", "-address", "/run/containerd/containerd.sock"}, false},
		"another program":         {[]string{"/usr/bin/vi", "-address", "/d/cri.sock"}, false},
		"nothing behind the flag": {[]string{"containerd-shim-runc-v2", "-address"}, false},
		"of the kernel":           {[]string{""}, false},
	} {
		if got := (runningProcess{args: c.args}).isShim("/d/cri.sock"); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
	own := listProcesses()[os.Getpid()]
	must.Equal(t, "parent of this process", own.parent, os.Getppid())
	must.Equal(t, "its arguments", own.args, os.Args)
}

func TestConfigurationFiles(t *testing.T) {
	c := Config{Dir: t.TempDir(), Socket: "/d/cri.sock", Registry: "127.0.0.1:5000", PodRegistry: "10.129.0.1:5000", CA: "/d/ca.crt"}
	must.NoError(t, c.writeFiles())
	read := func(name string) string { return string(must.Value(os.ReadFile(filepath.Join(c.Dir, name)))(t)) }
	for _, name := range []string{"kubelet.json", "kube-proxy.json", "cni/10-fairlead.conflist"} {
		if !json.Valid([]byte(read(name))) {
			t.Errorf("%s is not JSON", name)
		}
	}
	must.Contain(t, "containerd's configuration", read("containerd.toml"), `address = "/d/cri.sock"`, `root = "`+c.Dir+`/containerd"`, PauseImage)
	must.Equal(t, "how the cluster's registry is reached", read("registries/127.0.0.1_5000_/hosts.toml"),
		"server = \"http://127.0.0.1:5000\"\n[host.\"http://127.0.0.1:5000\"]\n  capabilities = [\"pull\", \"resolve\"]\n")
	must.Equal(t, "how it is reached by the address that pods use", read("registries/10.129.0.1_5000_/hosts.toml"),
		"server = \"http://10.129.0.1:5000\"\n[host.\"http://10.129.0.1:5000\"]\n  capabilities = [\"pull\", \"resolve\"]\n")
	must.Equal(t, "how others are", read("registries/_default/hosts.toml"), "[host.\"http://127.0.0.1:5000\"]\n  capabilities = [\"pull\", \"resolve\"]\n")
}

// TestCgroups are removed from the inside out, whatever the hierarchy.
func TestCgroups(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"memory/kubepods/burstable/pod1/c1", "memory/other", "kubepods/pod2"} {
		must.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	must.NoError(t, removeCgroups(root))
	left := must.Value(filepath.Glob(filepath.Join(root, "*", "*")))(t)
	must.Equal(t, "what is left", left, []string{filepath.Join(root, "memory", "other")})
	if exists(filepath.Join(root, "kubepods")) {
		t.Error("the cgroup of the one hierarchy is still there")
	}
}
