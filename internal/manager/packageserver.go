package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/catalogset"
	"fairlead.dev/fairlead/internal/packageserver"
	"fairlead.dev/fairlead/internal/packageserver/registration"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Pauses between attempts to serve packages.
const (
	minPackageRetry = time.Second
	maxPackageRetry = time.Minute
)

// packages runs the package server. It is never why a manager ends: operators are installed without it, too.
type packages struct {
	PackageServer
	mgr      manager.Manager
	contents *catalogset.Set
	global   string
	looks    *serving
	log      logr.Logger
	changed  changes
}

// addPackageServer makes the manager serve packages, when it is to.
func addPackageServer(mgr manager.Manager, o Options, s stores) error {
	p, err := o.PackageServer.settle(o.GlobalNamespace)
	if err != nil || p.Address == noAddress {
		return err
	}
	r := &packages{PackageServer: p, mgr: mgr, contents: s.catalogs, global: o.GlobalNamespace, log: o.Log.WithName("packages"),
		looks: &serving{reader: mgr.GetClient(), known: s.catalogs, elected: mgr.Elected()}}
	s.catalogs.OnChange(func(catalogset.Ref) { r.changed.happened() })
	return mgr.Add(r)
}

// Start serves until the context ends, and tries again what fails.
func (p *packages) Start(ctx context.Context) error {
	if err := p.follow(ctx); err != nil {
		return err
	}
	for retry := minPackageRetry; ctx.Err() == nil; retry = min(2*retry, maxPackageRetry) {
		err := p.serve(ctx)
		if err == nil && ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = errors.New("the server ended by itself")
		}
		p.log.Error(err, "PackageManifests are not served; it is tried again", "in", retry)
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
	return nil
}

// follow notices what is said of catalogs, and who sees them.
func (p *packages) follow(ctx context.Context) error {
	for _, kind := range []client.Object{&v1alpha1.CatalogSource{}, &operatorsv1.OperatorGroup{}} {
		informer, err := p.mgr.GetCache().GetInformer(ctx, kind)
		if err == nil {
			_, err = informer.AddEventHandler(packageserver.OnChange(p.changed.happened))
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("watch %T for the package server: %w", kind, err)
		}
	}
	return nil
}

// serve is one attempt: it returns when the context ends, after the registration was withdrawn, or with what failed.
func (p *packages) serve(ctx context.Context) (err error) {
	listener, err := net.Listen("tcp", p.Address)
	if err != nil {
		return fmt.Errorf("serve packages: %w; choose another address, or 0 for none", err)
	}
	defer func() { _ = listener.Close() }() // the server has closed it when it served
	at, remove, err := p.advertised(ctx, listener.Addr().(*net.TCPAddr).AddrPort())
	if err != nil {
		return fmt.Errorf("serve packages at %s: %w", p.Address, err)
	}
	defer remove()
	registered, err := registration.New(registration.Options{REST: p.mgr.GetConfig(), Namespace: p.Namespace, Address: at,
		Pod: registration.Pod{Name: p.podName(), UID: types.UID(os.Getenv(podUIDVariable))}, Clock: clock.RealClock{}, Log: p.log})
	if err != nil {
		return err
	}
	if err := registered.Prepare(ctx); err != nil {
		return err
	}
	server, err := packageserver.New(ctx, packageserver.Config{REST: p.mgr.GetConfig(), Cluster: packageserver.Reader{Reader: p.mgr.GetClient()},
		Contents: p.contents, GlobalNamespace: p.global, Listener: listener, Certificate: registered.Certificate(), Start: time.Now()})
	if err != nil {
		return err
	}
	defer p.changed.call(server.Changed)()
	return p.run(ctx, server, registered)
}

// run serves for as long as the API server is told to come here, and a little longer.
func (p *packages) run(ctx context.Context, server *packageserver.Server, registered *registration.Registration) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	leading, withdraw := context.WithCancel(ctx)
	defer withdraw()
	ended := make(chan error, 1)
	go func() {
		ended <- server.Run(serving)
		withdraw() // nobody may come any more
	}()
	p.looks.lookAtAll(leading)
	err := registered.Run(leading)
	stop()
	return errors.Join(err, <-ended)
}
