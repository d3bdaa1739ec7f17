package realnode

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// Addresses and names of the node. There is one on a machine at a time, so they need not be chosen.
const (
	// Name is that of the Node.
	Name = "real-1"
	// Address is the node's, on the bridge of the pods. The API server, DNS and kubelet listen there, and on no network that leaves the machine.
	Address    = "10.129.0.1"
	podNetwork = "10.129.0.0/24"
	bridge     = "fairlead0"
	// network is the name of the pods' network in CNI, and of the nftables table that lets them out.
	network = "fairlead-node"
	// PauseImage is imported into containerd; no registry has it.
	PauseImage = "fairlead.dev/pause:1"
)

// Config says where things are.
type Config struct {
	// Dir keeps all files of the node.
	Dir string
	// Socket is the Unix socket of containerd; two more characters than ".ttrpc" must fit behind it.
	Socket string
	// Registry is the host:port of the cluster's image registry on loopback.
	Registry string
	// PodRegistry is the host:port of the same registry for pods.
	PodRegistry string
	// CA is the file of the authority that signed the API server's client certificate; ServingCert and ServingKey are kubelet's own.
	CA, ServingCert, ServingKey string
	// KubeletKubeconfig and ProxyKubeconfig are how both reach the API server.
	KubeletKubeconfig, ProxyKubeconfig string
}

func (c Config) path(elem ...string) string {
	return filepath.Join(append([]string{c.Dir}, elem...)...)
}

// PauseArchive is the file with the image of the container that holds a pod's namespaces, for ctr to import.
func (c Config) PauseArchive() string { return c.path("pause.tar") }

// ContainerdArgs are the arguments of containerd, after the path of its program.
func (c Config) ContainerdArgs() []string { return []string{"--config", c.path("containerd.toml")} }

// KubeletArgs are the arguments of kubelet.
func (c Config) KubeletArgs() []string {
	return []string{
		"--config=" + c.path("kubelet.json"),
		"--kubeconfig=" + c.KubeletKubeconfig,
		"--hostname-override=" + Name,
		"--node-ip=" + Address,
		"--root-dir=" + c.path("kubelet"),
		"--cert-dir=" + c.path("kubelet-certs"),
	}
}

// ProxyArgs are the arguments of kube-proxy.
func (c Config) ProxyArgs() []string { return []string{"--config=" + c.path("kube-proxy.json")} }

// object is a piece of JSON.
type object = map[string]any

// writeFiles writes the configuration of everything that runs on the node.
func (c Config) writeFiles() error {
	for name, content := range map[string]any{
		"kubelet.json":             c.kubelet(),
		"kube-proxy.json":          c.proxy(),
		"cni/10-fairlead.conflist": c.podNetwork(),
		"containerd.toml":          c.containerd(),
		// An image is the same by both addresses.
		c.registryHosts(c.Registry):    registryHost("server = \"http://"+c.Registry+"\"\n", c.Registry),
		c.registryHosts(c.PodRegistry): registryHost("server = \"http://"+c.PodRegistry+"\"\n", c.PodRegistry),
		// Before any other registry, the cluster's is asked.
		filepath.Join("registries", "_default", "hosts.toml"): registryHost("", c.Registry),
	} {
		text, isText := content.(string)
		if !isText {
			encoded, err := json.MarshalIndent(content, "", "  ")
			if err != nil {
				return err
			}
			text = string(encoded) + "\n"
		}
		path := c.path(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("write the configuration of the node: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write the configuration of the node: %w", err)
		}
	}
	return nil
}

// kubelet takes what is usual, except where a machine that is also used for other work would notice: it sets no limit for all pods
// together, evicts nothing because of a disk that others fill, and leaves priorities and firewall chains alone.
func (c Config) kubelet() object {
	return object{
		"apiVersion":                  "kubelet.config.k8s.io/v1beta1",
		"kind":                        "KubeletConfiguration",
		"address":                     Address,
		"authentication":              object{"anonymous": object{"enabled": false}, "webhook": object{"enabled": true}, "x509": object{"clientCAFile": c.CA}},
		"authorization":               object{"mode": "Webhook"},
		"tlsCertFile":                 c.ServingCert,
		"tlsPrivateKeyFile":           c.ServingKey,
		"healthzBindAddress":          "127.0.0.1",
		"containerRuntimeEndpoint":    "unix://" + c.Socket,
		"clusterDNS":                  []string{Address},
		"clusterDomain":               clusterDomain,
		"resolvConf":                  "/etc/resolv.conf",
		"podLogsDir":                  c.path("pod-logs"),
		"volumePluginDir":             c.path("volume-plugins"),
		"cgroupDriver":                "cgroupfs", // there need not be a systemd
		"failCgroupV1":                false,
		"failSwapOn":                  false,
		"enforceNodeAllocatable":      []string{},
		"makeIPTablesUtilChains":      false,
		"oomScoreAdj":                 0, // a lower one takes a capability that root in a container lacks
		"serializeImagePulls":         false,
		"registryPullQPS":             0,
		"imageGCHighThresholdPercent": 100,
		"evictionHard":                object{"memory.available": "50Mi", "nodefs.available": "1%", "nodefs.inodesFree": "1%", "imagefs.available": "1%"},
	}
}

func (c Config) proxy() object {
	return object{
		"apiVersion":         "kubeproxy.config.k8s.io/v1alpha1",
		"kind":               "KubeProxyConfiguration",
		"mode":               "nftables",
		"hostnameOverride":   Name,
		"clientConnection":   object{"kubeconfig": c.ProxyKubeconfig},
		"detectLocalMode":    "BridgeInterface", // what does not come from it is of this machine, and is given an address that pods can answer to
		"detectLocal":        object{"bridgeInterface": bridge},
		"nodePortAddresses":  []string{Address + "/32"},
		"healthzBindAddress": "127.0.0.1:10256",
		"metricsBindAddress": "127.0.0.1:10249",
		"oomScoreAdj":        0,
		"conntrack":          object{"maxPerCore": 0, "min": 0, "tcpCloseWaitTimeout": "0s", "tcpEstablishedTimeout": "0s"},
	}
}

// podNetwork is the configuration of CNI. It has no port mapping, whose chains of iptables would stay behind.
func (c Config) podNetwork() object {
	return object{
		"cniVersion": "0.4.0",
		"name":       network,
		"plugins": []object{{
			"type": "bridge", "bridge": bridge, "isGateway": true, "ipMasq": false, "hairpinMode": true,
			"ipam": object{
				"type": "host-local", "dataDir": c.path("addresses"),
				"ranges": [][]object{{{"subnet": podNetwork}}},
				"routes": []object{{"dst": "0.0.0.0/0"}},
			},
		}},
	}
}

// containerd keeps everything in the node's directory: nothing of it meets the machine's own.
func (c Config) containerd() string {
	return fmt.Sprintf(`version = 2
root = %[1]q
state = %[2]q
oom_score = 0
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = %[3]q
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %[4]q
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = %[5]q
    conf_dir = %[6]q
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = %[7]q
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      Root = %[8]q
`, c.path("containerd"), c.path("state"), c.Socket, PauseImage, pluginDir, c.path("cni"), c.path("registries"), c.path("runc"))
}

// registryHosts is the file that says how a registry is reached. containerd writes the port of its directory with underscores.
func (c Config) registryHosts(registry string) string {
	host, port, _ := net.SplitHostPort(registry)
	return filepath.Join("registries", host+"_"+port+"_", "hosts.toml")
}

// registryHost asks a registry without TLS; server is what follows when it has not got an image.
func registryHost(server, registry string) string {
	return server + fmt.Sprintf("[host.\"http://%s\"]\n  capabilities = [\"pull\", \"resolve\"]\n", registry)
}
