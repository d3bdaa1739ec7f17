package devcluster

import (
	"context"
	"fmt"
	"net/netip"
)

// hostAddress stands for this machine in the EndpointSlices of Services: a documentation address, because a loopback address is not
// accepted there. Connections to it go through the tunnel, so nothing has to be there.
var hostAddress = netip.MustParseAddr("192.0.2.2")

// Expose lets the API server reach a server on loopback until remove is called, by the address that is returned. A Service leads there
// whose EndpointSlice names that address and its port.
func (c *Cluster) Expose(_ context.Context, local netip.AddrPort) (address netip.AddrPort, remove func(), err error) {
	return expose(local, c.Route)
}

// Expose is Cluster.Expose from another process; it ends with this process at the latest.
func (c *Client) Expose(ctx context.Context, local netip.AddrPort) (address netip.AddrPort, remove func(), err error) {
	return expose(local, func(from, to string) (func(), error) { return c.Route(ctx, from, to) })
}

// expose uses the port of the server, which is its own on this machine, so that the addresses of several do not clash.
func expose(local netip.AddrPort, route func(from, to string) (func(), error)) (netip.AddrPort, func(), error) {
	address := netip.AddrPortFrom(hostAddress, local.Port())
	remove, err := route(address.String(), local.String())
	if err != nil {
		return netip.AddrPort{}, nil, fmt.Errorf("let the API server reach %s: %w", local, err)
	}
	return address, remove, nil
}
