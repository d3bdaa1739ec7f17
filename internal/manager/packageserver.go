package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
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

// DefaultPackageAddress is where PackageManifests are served when the manager runs in a pod that knows its address.
const DefaultPackageAddress = ":5443"

// Variables of the environment that name the manager's pod.
const (
	podNameVariable      = "POD_NAME"
	podNamespaceVariable = "POD_NAMESPACE"
	podUIDVariable       = "POD_UID"
)

// Pauses between attempts to serve packages.
const (
	minPackageRetry = time.Second
	maxPackageRetry = time.Minute
)

// PackageServer says how PackageManifests are served.
type PackageServer struct {
	// Address is host:port to listen on, "0" for not at all. Empty is DefaultPackageAddress in a pod that knows its address, a free port on
	// loopback where there is a Route, and not at all elsewhere.
	Address string
	// Advertise is IP:port by which the API server reaches it, where that is another.
	Advertise string
	// Namespace is that of the Service; that of the pod when empty, and the global namespace outside of a pod.
	Namespace string
	// Route lets an API server that could not reach this process reach it, until remove is called.
	Route func(ctx context.Context, local netip.AddrPort) (advertise netip.AddrPort, remove func(), err error)
}

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
	p := o.PackageServer
	pod := os.Getenv(PodIPVariable)
	switch {
	case p.Address != "":
	case p.Route != nil:
		p.Address = "127.0.0.1:0"
	case pod != "" || p.Advertise != "":
		p.Address = DefaultPackageAddress
	}
	if p.Address == "" || p.Address == noAddress {
		return nil
	}
	if err := p.check(pod); err != nil {
		return err
	}
	p.Namespace = cmp.Or(p.Namespace, os.Getenv(podNamespaceVariable), o.GlobalNamespace)
	r := &packages{PackageServer: p, mgr: mgr, contents: s.catalogs, global: o.GlobalNamespace, log: o.Log.WithName("packages"),
		looks: &serving{reader: mgr.GetClient(), known: s.catalogs}}
	s.catalogs.OnChange(func(catalogset.Ref) { r.changed.happened() })
	return mgr.Add(r)
}

// check finds out early what can never work.
func (p PackageServer) check(pod string) error {
	host, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		return fmt.Errorf("serve packages: %w; give HOST:PORT to listen on, or 0 for none", err)
	}
	listening, err := netip.ParseAddrPort(net.JoinHostPort(cmp.Or(host, "0.0.0.0"), port))
	if err != nil || p.Route != nil {
		return nil // a name is known once it is listened on
	}
	if _, err := advertise(p.Advertise, pod, listening); err != nil {
		return fmt.Errorf("serve packages at %s: %w", p.Address, err)
	}
	return nil
}

// Start serves until the context ends, and tries again what fails.
func (p *packages) Start(ctx context.Context) error {
	if err := p.follow(ctx); err != nil {
		return err
	}
	for retry := minPackageRetry; ctx.Err() == nil; retry = min(2*retry, maxPackageRetry) {
		err := p.serve(ctx)
		if err == nil {
			return nil
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
	defer listener.Close()
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

// podName is empty where the pod is not known well enough to belong to it.
func (p *packages) podName() string {
	if p.Namespace != os.Getenv(podNamespaceVariable) || os.Getenv(podUIDVariable) == "" {
		return ""
	}
	return os.Getenv(podNameVariable)
}

// advertised is where the API server reaches a server that listens at an address.
func (p *packages) advertised(ctx context.Context, listening netip.AddrPort) (netip.AddrPort, func(), error) {
	if p.Route != nil && p.Advertise == "" {
		if listening.Addr().IsUnspecified() {
			listening = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), listening.Port())
		}
		return p.Route(ctx, listening)
	}
	at, err := advertise(p.Advertise, os.Getenv(PodIPVariable), listening)
	return at, func() {}, err
}
