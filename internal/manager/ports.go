package manager

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/internal/controller/catalogsource"

	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Private catalogs are served at ports from here on, in a pod; a namespace has one of them. They are below those that outgoing connections
// use. Elsewhere any free port does.
const (
	firstPrivatePort = 26_000
	privatePorts     = 256
)

const (
	// privateConnections is how many clients the catalogs of one namespace may have at once.
	privateConnections = 128
	// checkPolicies is how often the policy of a port is compared with what it should be.
	checkPolicies = time.Minute
)

// ports are where private catalogs are served: each namespace has a port of its own, at which nothing but its catalogs is to be found. The
// network decides who reaches a port, see portPolicies, and admit does where the network does not.
type ports struct {
	host      string // to listen on
	advertise netip.Addr
	pod       bool // the ports are those above
	policies  *portPolicies
	// used reports whether a namespace has CatalogSources.
	used  func(ctx context.Context, namespace string) (bool, error)
	serve func(namespace string, catalogs *catalogserver.Set) *grpc.Server
	log   *slog.Logger
	now   func() time.Time

	mu      sync.Mutex
	open    map[string]*port
	stopped bool
}

// port is where the catalogs of a namespace are served.
type port struct {
	number  int
	place   catalogsource.Place
	server  *grpc.Server
	checked time.Time // when its policy was compared
}

// place returns where the catalogs of a namespace are served, and begins to serve there.
func (p *ports) place(ctx context.Context, namespace string) (catalogsource.Place, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	known := p.open[namespace]
	if known == nil {
		var err error
		if known, err = p.begin(ctx, namespace, &catalogserver.Set{}); err != nil {
			return catalogsource.Place{}, err
		}
		known.checked = now
	}
	if now.Sub(known.checked) >= checkPolicies {
		err := p.policies.keep(ctx, namespace, known.number)
		if errors.Is(err, errForeignPolicy) {
			// Serve the catalogs of a namespace at another port: one whose policy opens it to another namespace is that one's, no matter who
			// wrote it. The port is closed at once, because its clients are no longer those of the namespace.
			p.log.Warn("the port of private catalogs is given up", "namespace", namespace, "port", known.number, "reason", err.Error())
			known.server.Stop()
			delete(p.open, namespace)
			known, err = p.begin(ctx, namespace, known.place.Catalogs)
		}
		if err != nil {
			return catalogsource.Place{}, err
		}
		known.checked = now
	}
	return known.place, nil
}

var errNoPort = fmt.Errorf("all %d ports for namespaces with catalogs of their own are taken; delete the CatalogSources of another namespace, or serve catalogs in the global namespace", privatePorts)

// begin listens at a port for the catalogs of a namespace.
func (p *ports) begin(ctx context.Context, namespace string, catalogs *catalogserver.Set) (*port, error) {
	if p.stopped {
		return nil, fmt.Errorf("this manager ends: %w", context.Canceled)
	}
	claimed, err := p.policies.claimed(ctx)
	if err != nil {
		return nil, err
	}
	if len(p.open) >= privatePorts || len(claimed) >= privatePorts {
		if claimed, err = p.reclaim(ctx, claimed); err != nil {
			return nil, err
		}
	}
	if number, ok := claimed.of(namespace); ok {
		if err := p.policies.keep(ctx, namespace, number); err != nil {
			return nil, err
		}
		return p.listen(namespace, number, catalogs)
	}
	if !p.pod {
		if len(p.open) >= privatePorts {
			return nil, errNoPort
		}
		return p.listen(namespace, 0, catalogs)
	}
	taken := sets.New[int]()
	for _, other := range p.open {
		taken.Insert(other.number)
	}
	for i := range privatePorts {
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(namespace)) // a hash never fails
		number := firstPrivatePort + (int(sum.Sum32()%privatePorts)+i)%privatePorts
		if claimed[number] != "" || taken.Has(number) {
			continue
		}
		if got, err := p.policies.claim(ctx, namespace, number); err != nil {
			return nil, err
		} else if got {
			return p.listen(namespace, number, catalogs)
		}
	}
	return nil, errNoPort
}

// listen serves the catalogs of a namespace at a port, 0 for any: in a pod at the advertised address alone, unless another one was given. A
// listener at all addresses would have clients whose address is of a family that pods are not found by, see podPeers.
func (p *ports) listen(namespace string, number int, catalogs *catalogserver.Set) (*port, error) {
	host := p.host
	if at, err := netip.ParseAddr(host); p.pod && (host == "" || err == nil && at.IsUnspecified()) {
		host = p.advertise.String()
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(number)))
	if err != nil {
		return nil, fmt.Errorf("listen for clients of private catalogs: %w; end what else listens there", err)
	}
	at := listener.Addr().(*net.TCPAddr).AddrPort().Port()
	opened := &port{number: int(at), server: p.serve(namespace, catalogs),
		place: catalogsource.Place{Address: netip.AddrPortFrom(p.advertise, at), Catalogs: catalogs}}
	if p.open == nil {
		p.open = map[string]*port{}
	}
	p.open[namespace] = opened
	go func() {
		if err := opened.server.Serve(netutil.LimitListener(listener, privateConnections)); err != nil {
			p.log.Error("private catalogs are not served any more", "namespace", namespace, "error", err)
		}
	}()
	p.log.Info("private catalogs are served", "namespace", namespace, "port", at)
	return opened, nil
}

// reclaim takes the ports of namespaces that have no CatalogSource any more, and returns the claims that are left.
func (p *ports) reclaim(ctx context.Context, claimed claims) (claims, error) {
	namespaces := sets.KeySet(p.open)
	for _, namespace := range claimed {
		namespaces.Insert(namespace)
	}
	for namespace := range namespaces {
		used, err := p.used(ctx, namespace)
		if err != nil {
			return nil, err
		}
		if used {
			continue
		}
		if known := p.open[namespace]; known != nil {
			known.server.Stop()
			delete(p.open, namespace)
		}
		if number, ok := claimed.of(namespace); ok {
			if err := p.policies.release(ctx, namespace, number); err != nil {
				return nil, err
			}
			delete(claimed, number)
		}
	}
	return claimed, nil
}

// stop ends all servers, and lets clients finish what they have begun.
func (p *ports) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	var all sync.WaitGroup
	for _, known := range p.open {
		all.Go(func() { stopGracefully(known.server) })
	}
	all.Wait()
}
