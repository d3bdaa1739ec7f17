package manager

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
)

// DefaultPackageAddress is where PackageManifests are served when the manager runs in a pod that knows its address.
const DefaultPackageAddress = ":5443"

// Variables of the environment that name the manager's pod.
const (
	podNameVariable      = "POD_NAME"
	podNamespaceVariable = "POD_NAMESPACE"
	podUIDVariable       = "POD_UID"
	accountVariable      = "POD_SERVICE_ACCOUNT"
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

// settle fills in what was not said, and finds out early what can never work.
func (p PackageServer) settle(global string) (PackageServer, error) {
	pod := os.Getenv(PodIPVariable)
	switch {
	case p.Address != "":
	case p.Route != nil:
		p.Address = "127.0.0.1:0"
	case pod != "" || p.Advertise != "":
		p.Address = DefaultPackageAddress
	default:
		p.Address = noAddress
	}
	p.Namespace = cmp.Or(p.Namespace, os.Getenv(podNamespaceVariable), global)
	if p.Address == noAddress {
		return p, nil
	}
	host, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		return p, fmt.Errorf("serve packages: %w; give HOST:PORT to listen on, or 0 for none", err)
	}
	listening, err := netip.ParseAddrPort(net.JoinHostPort(cmp.Or(host, "0.0.0.0"), port))
	if err != nil || p.Route != nil {
		return p, nil // a name is known once it is listened on
	}
	if _, err := advertise(p.Advertise, pod, listening); err != nil {
		return p, fmt.Errorf("serve packages at %s: %w", p.Address, err)
	}
	return p, nil
}

// advertised is where the API server reaches a server that listens at an address.
func (p *packages) advertised(ctx context.Context, listening netip.AddrPort) (netip.AddrPort, func(), error) {
	if p.Route != nil && p.Advertise == "" {
		return p.Route(ctx, local(listening))
	}
	at, err := advertise(p.Advertise, os.Getenv(PodIPVariable), listening)
	return at, func() {}, err
}

// local is where a server is reached on its own host.
func local(listening netip.AddrPort) netip.AddrPort {
	if listening.Addr().IsUnspecified() {
		return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), listening.Port())
	}
	return listening
}
