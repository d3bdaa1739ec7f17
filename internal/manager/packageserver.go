package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/packageserver"
	"fairlead.dev/fairlead/internal/platform"

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

// packagesExpected is how long a manager is not ready because it does not serve packages. It does not wait for longer: operators are installed without
// them, too.
const packagesExpected = time.Minute

// packages runs the package server, in every manager and not only in the one that leads: packages are to be read while that one is replaced.
// It is never why a manager ends: operators are installed without it, too.
type packages struct {
	PackageServer
	mgr      manager.Manager
	contents packageserver.Contents
	global   string
	looks    *serving
	tls      *platform.Source
	log      logr.Logger
	changed  changes
	served   atomic.Bool // API servers were led here once, or it has been tried for packagesExpected
}

// addPackageServer makes the manager serve packages, when it is to.
func addPackageServer(mgr manager.Manager, o Options, s stores, servers *services, probes *health) error {
	p, err := o.PackageServer.settle(o.GlobalNamespace)
	if err != nil {
		return err
	}
	r := &packages{PackageServer: p, mgr: mgr, global: o.GlobalNamespace, tls: o.TLS, log: o.Log.WithName("packages")}
	if p.Address == noAddress {
		return mgr.Add(manager.RunnableFunc(r.clear))
	}
	all, err := addStandby(mgr, o, s)
	if err != nil {
		return err
	}
	started := make(chan struct{})
	close(started) // catalogs are read no matter who leads
	r.contents, r.looks = all, &serving{reader: mgr.GetClient(), known: all, elected: started}
	for _, set := range []*catalogstore.Set{all.Leading, all.Standby} {
		set.OnChange(func(catalog.Ref) { r.changed.happened() })
	}
	servers.all = append(servers.all, service{Runnable: r, leaves: true})
	probes.ready["packages"] = func(*http.Request) error {
		if !r.served.Load() {
			return errors.New("packages are not served yet")
		}
		return nil
	}
	return nil
}

// clear is for a manager that does not serve packages: one before it that did, and was killed, has left what keeps namespaces from being
// deleted.
func (p *packages) clear(ctx context.Context) error {
	for retry := minPackageRetry; ctx.Err() == nil; retry = min(2*retry, maxPackageRetry) {
		left, err := packageserver.NewRegistration(p.registration(netip.AddrPort{}, netip.AddrPort{}))
		if err == nil {
			err = left.Clear(ctx)
		}
		if err == nil {
			return nil
		}
		p.log.Error(err, "what a package server has left may be there still, without which namespaces cannot be deleted; it is tried again", "in", retry)
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
	return nil
}

// registration says what is registered for a server that the API server and other managers reach.
func (p *packages) registration(at, reached netip.AddrPort) packageserver.RegistrationOptions {
	home, pod := os.Getenv(podNamespaceVariable), packageserver.Pod{UID: types.UID(os.Getenv(podUIDVariable))}
	if p.Namespace == home && pod.UID != "" { // else the pod is not known well enough to belong to it
		pod.Name = os.Getenv(podNameVariable)
	}
	return packageserver.RegistrationOptions{REST: p.mgr.GetConfig(), Namespace: p.Namespace, Home: home, Address: at, Reached: reached,
		Pod: pod, Clock: clock.RealClock{}, Registered: func() { p.served.Store(true) }, Log: p.log}
}

// Start serves until the context ends, and tries again what fails.
func (p *packages) Start(ctx context.Context) error {
	defer time.AfterFunc(packagesExpected, func() { p.served.Store(true) }).Stop()
	// Notice what is said of catalogs, and who sees them.
	for _, kind := range []client.Object{&v1alpha1.CatalogSource{}, &operatorsv1.OperatorGroup{}} {
		informer, err := p.mgr.GetCache().GetInformer(ctx, kind)
		if err == nil {
			_, err = informer.AddEventHandler(packageserver.OnChange(p.changed.happened))
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("watch %T for the package server: %w", kind, err)
		}
	}
	for retry := minPackageRetry; ctx.Err() == nil; retry = min(2*retry, maxPackageRetry) {
		changed, err := p.untilProfile(ctx)
		if err == nil && ctx.Err() != nil {
			return nil
		}
		if err == nil && changed {
			retry = minPackageRetry / 2 // to be doubled
			continue
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

// untilProfile serves until the context ends, the server fails, or the TLS profile changes, which it reports: the server cannot change how it
// speaks TLS, so requests under way are completed, and another one takes its place.
func (p *packages) untilProfile(ctx context.Context) (changed bool, err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	next, watched := p.tls.Changed(), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-next:
			changed = true
			p.log.Info("the TLS profile has changed; packages are served with the new one")
			end()
		case <-ctx.Done():
		}
	}()
	err = p.serve(ctx)
	end()
	<-watched
	return changed, err
}

// serve is one attempt: it returns when the context ends, after the registration was withdrawn, or with what failed.
func (p *packages) serve(ctx context.Context) (err error) {
	listener, err := net.Listen("tcp", p.Address)
	if err != nil {
		return fmt.Errorf("serve packages: %w; choose another address, or 0 for none", err)
	}
	defer func() { _ = listener.Close() }() // the server has closed it when it served
	listening := listener.Addr().(*net.TCPAddr).AddrPort()
	at, remove, err := p.advertised(ctx, listening)
	if err != nil {
		return fmt.Errorf("serve packages at %s: %w", p.Address, err)
	}
	defer remove()
	reached := at
	if p.Route != nil && p.Advertise == "" {
		reached = local(listening) // the route is for the API server alone; the others are on this host
	}
	registered, err := packageserver.NewRegistration(p.registration(at, reached))
	if err != nil {
		return err
	}
	if err := registered.Prepare(ctx); err != nil {
		return err
	}
	server, err := packageserver.New(ctx, packageserver.Config{REST: p.mgr.GetConfig(), Cluster: packageserver.Reader{Reader: p.mgr.GetClient()},
		Contents: p.contents, GlobalNamespace: p.global, Listener: listener, TLS: p.tls.Profile(), Certificate: registered.Provider(), Clock: clock.RealClock{}, Log: p.log})
	if err != nil {
		return err
	}
	defer p.changed.call(server.Changed)()
	return p.run(ctx, server, registered)
}

// run serves for as long as the API server is told to come here, and a little longer.
func (p *packages) run(ctx context.Context, server *packageserver.Server, registered *packageserver.Registration) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	leading, withdraw := context.WithCancel(ctx)
	defer withdraw()
	ended := make(chan error, 1)
	go func() {
		ended <- server.Run(serving)
		withdraw() // no one may come any more
	}()
	p.looks.lookAtAll(leading)
	err := server.Open(leading)
	if err == nil {
		err = registered.Run(leading)
	}
	stop()
	return errors.Join(err, <-ended)
}
