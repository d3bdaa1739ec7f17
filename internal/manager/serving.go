package manager

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/controller/catalogsource"
	"fairlead.dev/fairlead/internal/packageserver"

	"github.com/go-logr/logr"
	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// PodIPVariable of the environment is the address of the manager's pod.
const PodIPVariable = "POD_IP"

// DefaultCatalogAddress is where catalogs are served when the manager runs in a pod that knows its address.
const DefaultCatalogAddress = ":50051"

// noAddress stands for not listening at all.
const noAddress = "0"

// firstLooks is how long catalogs may take to be checked for the first time before clients are told that those are not served.
const firstLooks = 30 * time.Second

// stopCalls is how long clients may finish what they have begun.
const stopCalls = 5 * time.Second

// serving are the gRPC servers of all catalogs: one for those that all namespaces see, and one for each other namespace.
type serving struct {
	*catalogsource.Serving
	listener net.Listener
	private  *ports
	peers    *podPeers
	health   *catalogserver.Health
	work     catalogserver.Work
	log      *slog.Logger
	// Whether everything was checked once is found out by comparing what there is with what is known.
	reader  client.Reader
	known   packageserver.Contents
	elected <-chan struct{} // closed once this manager reads catalogs
}

// openServing listens, so that a busy port is told before anything else; nil when catalogs are not to be served, or when the cluster could
// not reach them.
func openServing(o Options, known *catalogstore.Set) (*serving, error) {
	address, advertised := o.CatalogAddress, o.CatalogAdvertise
	pod := os.Getenv(PodIPVariable)
	if address == "" && (pod != "" || advertised != "") {
		address = DefaultCatalogAddress
	}
	if address == "" || address == noAddress {
		return nil, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve catalogs: %w; choose another address, or 0 for none", err)
	}
	at, err := advertise(advertised, pod, listener.Addr().(*net.TCPAddr).AddrPort())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("serve catalogs at %s: %w", address, err), listener.Close())
	}
	s := &serving{listener: listener, log: slog.New(logr.ToSlogHandler(o.Log)), known: known, health: catalogserver.NewHealth(), work: catalogserver.NewWork(), peers: &podPeers{now: time.Now, family: at.Addr().Unmap()}}
	host, _, _ := net.SplitHostPort(address) // it was listened at
	s.private = &ports{host: host, advertise: at.Addr(), pod: at.Addr().String() == pod, now: time.Now, log: s.log, serve: s.ofNamespace, used: s.hasCatalogs}
	s.Serving = &catalogsource.Serving{GlobalNamespace: o.GlobalNamespace, Global: catalogsource.Place{Address: at, Catalogs: &catalogserver.Set{}},
		Private: s.private.place, Pod: podOf(at, pod)}
	return s, nil
}

// ofNamespace is a server for the pods of one namespace.
func (s *serving) ofNamespace(namespace string, catalogs *catalogserver.Set) *grpc.Server {
	return catalogserver.NewGRPC(named{catalogs}, s.health, s.log, catalogserver.GRPCOptions{Work: s.work, Admit: func(ctx context.Context) error { return s.peers.admit(ctx, namespace) }})
}

// hasCatalogs reports whether a namespace has CatalogSources.
func (s *serving) hasCatalogs(ctx context.Context, namespace string) (bool, error) {
	var all v1alpha1.CatalogSourceList
	if err := s.reader.List(ctx, &all, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return false, fmt.Errorf("look for CatalogSources in namespace %s, which has a port for them: %w", namespace, err)
	}
	return len(all.Items) > 0, nil
}

// podOf is NAMESPACE/NAME/UID of the pod whose address is advertised; empty when that is not known.
func podOf(at netip.AddrPort, address string) string {
	namespace, name, uid := os.Getenv(podNamespaceVariable), os.Getenv(podNameVariable), os.Getenv(podUIDVariable)
	if at.Addr().String() != address || namespace == "" || name == "" || uid == "" {
		return ""
	}
	return namespace + "/" + name + "/" + uid
}

// advertise is where pods of the cluster reach a server that listens at an address.
func advertise(wanted, pod string, listening netip.AddrPort) (netip.AddrPort, error) {
	host := listening.Addr().Unmap()
	switch {
	case wanted != "":
		at, err := netip.ParseAddrPort(wanted)
		if err != nil || at.Addr().IsLoopback() || at.Addr().IsUnspecified() {
			return netip.AddrPort{}, fmt.Errorf("advertise %q: give IP:PORT, by which pods reach this process", wanted)
		}
		return at, nil
	case pod != "":
		var err error
		if host, err = netip.ParseAddr(pod); err != nil {
			return netip.AddrPort{}, fmt.Errorf("read the variable %s: %w", PodIPVariable, err)
		}
	case host.IsUnspecified() || host.IsLoopback():
		return netip.AddrPort{}, fmt.Errorf("pods cannot reach %s; say by which IP:PORT they can, or set %s", listening, PodIPVariable)
	}
	return netip.AddrPortFrom(host, listening.Port()), nil
}

// addTo makes the manager run the server.
func (s *serving) addTo(mgr manager.Manager, servers *services) {
	if s == nil {
		return
	}
	s.reader, s.elected = mgr.GetClient(), mgr.Elected()
	s.peers.reader = mgr.GetAPIReader()
	if s.Pod != "" {
		s.private.policies = &portPolicies{namespace: os.Getenv(podNamespaceVariable), client: mgr.GetClient(), reader: mgr.GetAPIReader()}
	}
	servers.Add(s)
	servers.giveWay = func(ctx context.Context) { s.giveWay(ctx, mgr.GetAPIReader(), mgr.GetClient()) }
}

// giveWayEvery is how often it is looked for another manager that serves a catalog.
const giveWayEvery = 250 * time.Millisecond

// giveWay has the clients of catalogs led to the manager that leads next, as soon as it serves them, until the context ends.
func (s *serving) giveWay(ctx context.Context, reader client.Reader, writer client.Writer) {
	ticker := time.NewTicker(giveWayEvery)
	defer ticker.Stop()
	for {
		alone, err := s.GiveWay(ctx, reader, writer)
		if err == nil && alone == 0 {
			return
		}
		select {
		case <-ctx.Done():
			if err != nil && !errors.Is(err, context.Canceled) {
				s.log.Warn("clients of catalogs may be led to this manager for a while after it has ended", "error", err)
			}
			return
		case <-ticker.C:
		}
	}
}

// Start serves until the context ends.
func (s *serving) Start(ctx context.Context) error {
	calls := catalogserver.NewGRPC(named{s.Global.Catalogs}, s.health, s.log, catalogserver.GRPCOptions{Work: s.work})
	go func() {
		defer s.health.Set(true) // says nothing any more once the server stops
		s.lookAtAll(ctx)
	}()
	stopped := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		defer close(stopped)
		s.health.Stop()
		var all sync.WaitGroup
		all.Go(s.private.stop)
		all.Go(func() { stopGracefully(calls) })
		all.Wait()
	})()
	if err := calls.Serve(catalogserver.Limit(s.listener)); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve catalogs at %s: %w", s.listener.Addr(), err)
	}
	if ctx.Err() != nil {
		<-stopped
	}
	return nil
}

func stopGracefully(s *grpc.Server) {
	timer := time.AfterFunc(stopCalls, s.Stop)
	defer timer.Stop()
	s.GracefulStop()
}

// lookAtAll returns once every catalog that there is has been checked. It does not wait for long: one slow registry must not make the
// other catalogs look as if they were not served.
func (s *serving) lookAtAll(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-s.elected:
	}
	ctx, cancel := context.WithTimeout(ctx, firstLooks)
	defer cancel()
	_ = wait.PollUntilContextCancel(ctx, 250*time.Millisecond, true, func(context.Context) (bool, error) {
		var all v1alpha1.CatalogSourceList
		if err := s.reader.List(ctx, &all); err != nil {
			return false, nil // the cache is not filled yet
		}
		for i := range all.Items {
			e, _ := s.known.Get(catalog.Ref{Namespace: all.Items[i].Namespace, Name: all.Items[i].Name})
			if e.Index == nil && e.Problem == "" {
				return false, nil
			}
		}
		return true, nil
	})
}

// named are catalogs that must be asked for by name: a client that means one which is not there yet must not get another.
type named struct{ *catalogserver.Set }

// Catalog finds a catalog by its name.
func (n named) Catalog(name string) (catalogserver.Served, bool) {
	if name == "" {
		return catalogserver.Served{}, false
	}
	return n.Set.Catalog(name)
}
