package devcluster

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/fairlead/internal/devcluster/realnode"
)

// Start brings a cluster up and returns when a Deployment on it has become available, so when all of it works. The calling
// process is then its supervisor. Ending ctx ends the start, but not a started cluster: that is what Stop is for.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.complete()
	if err != nil {
		return nil, fmt.Errorf("start a cluster: %w", err)
	}
	if err := options.checkMachine(); err != nil {
		return nil, fmt.Errorf("start cluster %s: %w", options.Name, err)
	}
	c := &Cluster{
		opts:        options,
		layout:      layout{dir: dataDir(options.DataDir)},
		started:     time.Now(),
		routes:      &routeTable{},
		leases:      &leases{changed: make(chan struct{}, 1)},
		ready:       map[string]bool{},
		failed:      make(chan struct{}),
		stopRequest: make(chan struct{}),
		done:        make(chan struct{}),
	}
	if err := c.dir.create(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c, err)
	}
	if c.lock, err = tryLock(c.dir.path(lockFile), options.DataDir); err != nil {
		return nil, fmt.Errorf("start %s: %w", c, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, options.StartTimeout, fmt.Errorf("not ready after %s", options.StartTimeout))
	defer cancel()
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	go func() {
		select {
		case <-c.stopRequest:
			abort(errors.New("it was asked to stop"))
		case <-ctx.Done():
		}
	}()
	if err := c.start(ctx); err != nil {
		c.Stop()
		return nil, fmt.Errorf("start %s: %w", c, err)
	}
	c.mu.Lock()
	c.startup = time.Since(c.started)
	c.mu.Unlock()
	// Stop the cluster when a client asks for it or the last lease is long gone.
	go func() {
		select {
		case <-c.stopRequest:
		case <-c.leases.idle(c.opts.IdleTimeout):
		case <-c.done:
			return
		}
		c.stop(nil)
	}()
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	// Before anything is deleted from the data directory: what a killed cluster had mounted there would be deleted with it.
	if err := realnode.CleanUp(); err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.serve(); err != nil {
		return err
	}
	if c.opts.RealNode {
		if err := c.attachNode(); err != nil {
			return err
		}
	}
	args := c.args(c.opts.Throwaway)
	if err := c.spawn(Etcd, args[Etcd]); err != nil {
		return err
	}
	// Each component is started when it can be served: those that come too early wait for a second before they try again.
	if err := c.await(ctx, func(ctx context.Context) error { // connections are taken; they are served once etcd has elected itself
		conn, err := new(net.Dialer).DialContext(ctx, "unix", c.socket("etcd"))
		if err != nil {
			return err
		}
		return conn.Close()
	}, Etcd); err != nil {
		return err
	}
	if err := c.spawn(APIServer, args[APIServer]); err != nil {
		return err
	}
	if err := c.await(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		_, err := c.client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err
	}, APIServer, Etcd); err != nil {
		return err
	}
	c.isReady(Etcd)
	c.isReady(APIServer)
	err := errors.Join(
		c.spawn(ControllerManager, args[ControllerManager]),
		c.spawn(Scheduler, args[Scheduler]))
	if err != nil {
		return err
	}
	if c.opts.RealNode {
		err = c.startRealNode(ctx)
	} else {
		err = c.startSimulation(ctx, args[Kwok])
	}
	if err != nil {
		return err
	}
	return c.proveWorkloads(ctx)
}

// startSimulation starts simulated nodes and what plays their kubelet.
func (c *Cluster) startSimulation(ctx context.Context, args []string) error {
	if err := c.spawn(Kwok, args); err != nil {
		return err
	}
	// Add the simulated nodes that an existing data directory does not have yet.
	version, err := c.client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("read the server's version: %w", err)
	}
	for i := range c.opts.Nodes {
		node := simulatedNode(i+1, version.GitVersion)
		_, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create simulated node %s: %w", node.Name, err)
		}
	}
	if err := c.await(ctx, c.nodesReady, Kwok); err != nil {
		return err
	}
	c.isReady(Kwok)
	return nil
}

// prepare does everything on disk, from certificates to configuration files.
func (c *Cluster) prepare() (err error) {
	if c.previous, err = c.dir.reuse(c.opts.Throwaway); err != nil {
		return err
	}
	if c.previous.Name != "" && c.previous.RealNode != c.opts.RealNode {
		return fmt.Errorf("data directory %s is that of a cluster with %s: its pods are bound to them; choose another --name or --data-dir, or delete the directory",
			c.dir, nodesOf(c.previous.RealNode))
	}
	if c.sockets, err = c.dir.sockets(); err != nil {
		return err
	}
	if c.reserved, err = reservePort(c.previous.APIPort); err != nil {
		return err
	}
	c.apiPort = c.reserved.number
	if c.certs, err = Open(c.dir.path(pkiDir)); err != nil {
		return err
	}
	hosts := []string{loopback, "localhost", kubernetesServiceIP, "kubernetes", "kubernetes.default",
		"kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
	if c.opts.RealNode {
		hosts = append(hosts, realnode.Address)
	}
	err = errors.Join(
		c.certs.WriteServer(hosts...),
		c.certs.WriteFrontProxyClient())
	if err != nil {
		return err
	}
	if err := c.writeClients(); err != nil {
		return err
	}
	if c.opts.RealNode {
		if err := c.prepareNode(); err != nil {
			return err
		}
	}
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		return err
	}
	c.routes.Endpoints = serviceEndpoints(c.client)
	return os.WriteFile(c.dir.path(egressFile), fmt.Appendf(nil, `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: %q
`, c.socket("egress")), 0o600)
}

// writeClients writes the kubeconfigs of the administrator and of the components, and keeps the configuration of the former.
func (c *Cluster) writeClients() error {
	c.KubeconfigPath = c.dir.path(kubeconfigFile)
	admin, err := c.writeClient(c.KubeconfigPath, adminUser, adminsGroup)
	if err != nil {
		return err
	}
	c.config = &rest.Config{
		Host: c.apiURL(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   c.certs.CA(),
			CertData: admin.Cert,
			KeyData:  admin.Key,
		},
		QPS: -1,
	}
	for _, user := range []string{managerUser, schedulerUser} {
		if _, err := c.writeClient(c.dir.path(clientsDir, user), user); err != nil {
			return err
		}
	}
	_, err = c.writeClient(c.dir.path(clientsDir, simulationUser), simulationUser, adminsGroup)
	return err
}

// serve starts what the supervisor itself serves, and then records where.
func (c *Cluster) serve() error {
	registry, address, err := serveRegistry(c.dir.path(registryDir), c.previous.RegistryPort)
	if err != nil {
		return err
	}
	c.servers = append(c.servers, registry)
	c.registry, c.Registry = registry, address.String()

	egress, err := listenUnix(c.socket("egress"))
	if err != nil {
		return err
	}
	c.servers = append(c.servers, egress)
	go (&tunnelProxy{Routes: c.routes}).Serve(egress)

	// Serve the cluster's other processes on a Unix socket that only the owner may use.
	listener, err := listenUnix(c.socket("control"))
	if err != nil {
		return err
	}
	control := &http.Server{Handler: controlHandler(c), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := control.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("the control socket of %s stopped: %v", c, err)
		}
	}()
	c.servers = append(c.servers, control)

	processStart, err := processStartTime(os.Getpid())
	if err != nil {
		return fmt.Errorf("find the start time of this process: %w", err)
	}
	return c.dir.writeRecord(record{
		Name:         c.opts.Name,
		PID:          os.Getpid(),
		ProcessStart: processStart,
		Started:      c.started,
		Control:      c.socket("control"),
		APIPort:      c.apiPort,
		RegistryPort: address.Port,
		Throwaway:    c.opts.Throwaway,
		RealNode:     c.opts.RealNode,
	})
}

// writeClient makes a client certificate and writes a kubeconfig with it, readable by the owner only.
func (c *Cluster) writeClient(path, user string, groups ...string) (Pair, error) {
	pair, err := c.certs.Client(user, groups...)
	if err != nil {
		return pair, err
	}
	name := "fairlead-" + c.opts.Name
	config := api.Config{
		Clusters:       map[string]*api.Cluster{name: {Server: c.apiURL(), CertificateAuthorityData: c.certs.CA()}},
		AuthInfos:      map[string]*api.AuthInfo{name: {ClientCertificateData: pair.Cert, ClientKeyData: pair.Key}},
		Contexts:       map[string]*api.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}
	if err := clientcmd.WriteToFile(config, path); err != nil {
		return pair, fmt.Errorf("write the kubeconfig of %s: %w", user, err)
	}
	return pair, nil
}
