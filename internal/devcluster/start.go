package devcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
)

// Start brings a cluster up and returns when a Deployment on it has become available, so when all of it works. The calling
// process is then its supervisor. Ending ctx ends the start, but not a started cluster: that is what Stop is for.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.complete()
	if err != nil {
		return nil, fmt.Errorf("start a cluster: %w", err)
	}
	c := &Cluster{
		opts:        options,
		dir:         dataDir(options.DataDir),
		started:     time.Now(),
		routes:      &routeTable{},
		leases:      newLeases(),
		ready:       map[string]bool{},
		failed:      make(chan struct{}),
		stopRequest: make(chan struct{}),
		done:        make(chan struct{}),
	}
	if err := c.dir.create(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c, err)
	}
	if c.lock, err = tryLock(c.dir.lock(), options.DataDir); err != nil {
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
	go c.watchRequests()
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.serve(); err != nil {
		return err
	}
	if err := c.spawn(Etcd, c.etcdArgs()); err != nil {
		return err
	}
	// Each component is started when it can be served: those that come too early wait for a second before they try again.
	if err := c.await(ctx, c.etcdListens, Etcd); err != nil {
		return err
	}
	if err := c.spawn(APIServer, c.apiServerArgs()); err != nil {
		return err
	}
	if err := c.await(ctx, c.apiServerReady, APIServer, Etcd); err != nil {
		return err
	}
	c.isReady(Etcd)
	c.isReady(APIServer)
	err := errors.Join(
		c.spawn(ControllerManager, c.controllerManagerArgs()),
		c.spawn(Scheduler, c.schedulerArgs()),
		c.spawn(Kwok, c.kwokArgs()))
	if err != nil {
		return err
	}
	if err := c.createNodes(ctx); err != nil {
		return err
	}
	if err := c.await(ctx, c.nodesReady, Kwok); err != nil {
		return err
	}
	c.isReady(Kwok)
	return c.proveWorkloads(ctx)
}

// prepare does everything on disk, from certificates to configuration files.
func (c *Cluster) prepare() (err error) {
	if c.previous, err = c.dir.reuse(c.opts.Throwaway); err != nil {
		return err
	}
	if c.sockets, err = c.dir.sockets(); err != nil {
		return err
	}
	if c.apiPort, err = reservePort(c.previous.APIPort); err != nil {
		return err
	}
	if c.certs, err = Open(c.dir.pki()); err != nil {
		return err
	}
	err = errors.Join(
		c.certs.WriteServer(loopback, "localhost", kubernetesServiceIP, "kubernetes", "kubernetes.default",
			"kubernetes.default.svc", "kubernetes.default.svc.cluster.local"),
		c.certs.WriteFrontProxyClient())
	if err != nil {
		return err
	}
	c.KubeconfigPath = c.dir.kubeconfig()
	if err := c.writeClients(); err != nil {
		return err
	}
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		return err
	}
	c.routes.Endpoints = c.serviceEndpoints
	return os.WriteFile(c.dir.egress(), c.egressConfig(), 0o600)
}

// serve starts what the supervisor itself serves, and then records where.
func (c *Cluster) serve() error {
	registry, err := serveRegistry(c.dir.registry(), c.previous.RegistryPort)
	if err != nil {
		return err
	}
	c.servers = append(c.servers, registry)
	c.Registry = registry.address()

	egress, err := listenUnix(c.socket("egress"))
	if err != nil {
		return err
	}
	c.servers = append(c.servers, egress)
	go (&tunnelProxy{Routes: c.routes}).Serve(egress)

	control, err := c.serveControl()
	if err != nil {
		return err
	}
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
		APIPort:      c.apiPort.number,
		RegistryPort: registry.port(),
		Throwaway:    c.opts.Throwaway,
	})
}
