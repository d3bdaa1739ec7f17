package catalogtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"

	"github.com/go-logr/logr"
)

// Host is an embedded cluster with a manager, for one test.
type Host struct {
	Cluster

	cluster *devcluster.Cluster
	stop    context.CancelFunc
	ended   chan error
}

// Start starts an embedded cluster, and a manager in this process.
func Start(ctx context.Context, o devcluster.Options) (*Host, error) {
	o.Throwaway = true
	cluster, err := devcluster.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	h := &Host{Cluster: Cluster{Config: cluster.RESTConfig(), Registry: cluster.Registry, Own: true}, cluster: cluster}
	if !o.RealNode {
		h.Route = cluster.Route
	}
	if err := h.startManager(ctx); err != nil {
		return nil, errors.Join(err, h.Stop())
	}
	return h, nil
}

// startManager runs the manager until Stop.
func (h *Host) startManager(ctx context.Context) error {
	config := h.Config
	if err := errors.Join(manager.InstallCRDs(ctx, config), manager.InstallPolicies(ctx, io.Discard, manager.Options{Config: config})); err != nil {
		return err
	}
	o := manager.Options{Config: config, StoreDir: filepath.Join(filepath.Dir(h.cluster.KubeconfigPath), "content"), Log: logr.Discard(), PackageServer: manager.PackageServer{Address: "0"}}
	if h.Route != nil {
		o.StableAfter = time.Duration(-1) // its pods are simulated: that they run for a while shows nothing
	}
	ready := make(chan struct{})
	o.Ready = func() { close(ready) }
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop, h.ended = stop, make(chan error, 1)
	go func() { h.ended <- manager.Run(running, o) }()
	select {
	case <-ready:
		return nil
	case err := <-h.ended:
		h.ended <- nil
		return fmt.Errorf("start the manager: %w", err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Stop stops the manager and the cluster.
func (h *Host) Stop() error {
	var err error
	if h.stop != nil {
		h.stop()
		err = <-h.ended
	}
	h.cluster.Stop()
	return err
}
