package devcluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/devcluster/realnode"
)

// Files and users of a real node.
const (
	kubeletCert       = "kubelet.crt"
	kubeletKey        = "kubelet.key"
	kubeletClientCert = "kubelet-client.crt"
	kubeletClientKey  = "kubelet-client.key"

	// The API server authorizes these names itself: the first for what concerns its node, the second for Services.
	nodeUser   = "system:node:" + realnode.Name
	nodesGroup = "system:nodes"
	proxyUser  = "system:kube-proxy"
	// kubeletClientUser is the API server when it asks kubelet for logs.
	kubeletClientUser = "fairlead-apiserver"
)

// nodesOf is for messages.
func nodesOf(real bool) string {
	if real {
		return "a real node"
	}
	return "simulated nodes"
}

// checkMachine says what a real node lacks on this machine, before anything is made.
func (o Options) checkMachine() error {
	if !o.RealNode {
		return nil
	}
	return realnode.Check(serviceNetwork)
}

// CleanUpNode removes what a real node of a killed cluster left on this machine. Start does so too.
func CleanUpNode() error { return realnode.CleanUp() }

// prepareNode writes the certificates and kubeconfigs of the node.
func (c *Cluster) prepareNode() error {
	serving, err := c.certs.server(realnode.Name, realnode.Name, realnode.Address)
	if err != nil {
		return err
	}
	client, err := c.certs.Client(kubeletClientUser, adminsGroup)
	if err != nil {
		return err
	}
	err = errors.Join(
		serving.write(c.certs.Path(kubeletCert), c.certs.Path(kubeletKey)),
		client.write(c.certs.Path(kubeletClientCert), c.certs.Path(kubeletClientKey)))
	if err != nil {
		return err
	}
	c.realNode = &realnode.Config{
		Dir:               c.dir.path(nodeDir),
		Socket:            c.socket("cri"),
		CA:                c.certs.Path(CACert),
		ServingCert:       c.certs.Path(kubeletCert),
		ServingKey:        c.certs.Path(kubeletKey),
		KubeletKubeconfig: c.dir.path(clientsDir, Kubelet),
		ProxyKubeconfig:   c.dir.path(clientsDir, KubeProxy),
	}
	if _, err := c.writeClient(c.realNode.KubeletKubeconfig, nodeUser, nodesGroup); err != nil {
		return err
	}
	_, err = c.writeClient(c.realNode.ProxyKubeconfig, proxyUser)
	return err
}

// attachNode takes the machine, and lets pods reach the API server, which listens on loopback.
func (c *Cluster) attachNode() (err error) {
	c.realNode.Registry, c.realNode.PodRegistry = c.Registry, registryForPods(true, c.Registry)
	if c.node, err = realnode.Attach(*c.realNode); err != nil {
		return err
	}
	port := strconv.Itoa(c.apiPort)
	forward, err := realnode.Forward(net.JoinHostPort(realnode.Address, port), net.JoinHostPort(loopback, port))
	if err != nil {
		return err
	}
	c.servers = append(c.servers, forward)
	dns, err := realnode.ServeDNS(realnode.Address, c.client)
	if err != nil {
		return err
	}
	c.servers = append(c.servers, dns)
	registry, err := serveRegistryToPods(c.registry, c.realNode.PodRegistry)
	if err != nil {
		return err
	}
	c.servers = append(c.servers, registry)
	return c.spawn(Containerd, append([]string{"containerd"}, c.realNode.ContainerdArgs()...))
}

// registryForPods is where pods pull from a registry of the machine; empty where pods are simulated.
func registryForPods(real bool, registry string) string {
	if !real {
		return ""
	}
	_, port, _ := net.SplitHostPort(registry)
	return net.JoinHostPort(realnode.Address, port)
}

// startRealNode returns when the node is ready for pods.
func (c *Cluster) startRealNode(ctx context.Context) error {
	if err := c.await(ctx, c.importPause, Containerd); err != nil {
		return err
	}
	c.isReady(Containerd)
	err := errors.Join(c.spawn(Kubelet, c.realNode.KubeletArgs()), c.spawn(KubeProxy, c.realNode.ProxyArgs()))
	if err != nil {
		return err
	}
	if err := c.await(ctx, c.nodesReady, Kubelet, Containerd); err != nil {
		return err
	}
	c.isReady(Kubelet)
	c.isReady(KubeProxy)
	return nil
}

// importPause gives containerd the image that every pod needs. It fails until containerd answers.
func (c *Cluster) importPause(ctx context.Context) error {
	output, err := exec.CommandContext(ctx, "ctr", "--address", c.realNode.Socket, "--namespace", "k8s.io", "images", "import", c.realNode.PauseArchive()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("import the pause image: ctr: %w: %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

// exposedAt is the address of this machine for the API server: it dials that of a real node itself.
func exposedAt(real bool) netip.Addr {
	if real {
		return netip.MustParseAddr(realnode.Address)
	}
	return hostAddress
}

// exposeOnNode lets pods and the API server reach a server on loopback by the address of the node. Pods are reached without it.
func exposeOnNode(from, to string) (remove func(), err error) {
	address, err := netip.ParseAddrPort(from)
	if err != nil || address.Addr() != exposedAt(true) {
		return nil, fmt.Errorf("route %s to %s: the API server of a cluster with a real node calls pods themselves; only %s, the node's own address, can lead elsewhere", from, to, realnode.Address)
	}
	target, err := netip.ParseAddrPort(to)
	if err != nil || !target.Addr().IsLoopback() {
		return nil, fmt.Errorf("route %s to %s: the server must be on loopback", from, to)
	}
	if conn, err := net.DialTimeout("tcp", from, time.Second); err == nil {
		_ = conn.Close() // the server listens on all addresses of this machine
		return func() {}, nil
	}
	forward, err := realnode.Forward(from, to)
	if err != nil {
		return nil, err
	}
	return func() { _ = forward.Close() }, nil
}
