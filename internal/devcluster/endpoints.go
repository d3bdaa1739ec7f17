package devcluster

import (
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// serviceEndpoints lists the addresses that the API server may choose when it calls a Service. A Service that is not there has none: it may
// come later.
func serviceEndpoints(client kubernetes.Interface) podEndpoints {
	return func(ctx context.Context, namespace, name string, port uint16) ([]netip.AddrPort, error) {
		service, err := client.CoreV1().Services(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		wanted := map[string]bool{}
		for _, p := range service.Spec.Ports {
			wanted[p.Name] = port == 0 || p.Port == int32(port)
		}
		slices, err := client.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{
			LabelSelector: discoveryv1.LabelServiceName + "=" + name,
		})
		if err != nil {
			return nil, err
		}
		var found []netip.AddrPort
		for _, slice := range slices.Items {
			for _, p := range slice.Ports {
				if p.Port != nil && p.Name != nil && wanted[*p.Name] && (p.Protocol == nil || *p.Protocol == corev1.ProtocolTCP) {
					found = append(found, addresses(slice.Endpoints, uint16(*p.Port))...)
				}
			}
		}
		return found, nil
	}
}

func addresses(endpoints []discoveryv1.Endpoint, port uint16) []netip.AddrPort {
	var found []netip.AddrPort
	for _, endpoint := range endpoints {
		for _, address := range endpoint.Addresses {
			if ip, err := netip.ParseAddr(address); err == nil {
				found = append(found, netip.AddrPortFrom(ip, port))
			}
		}
	}
	return found
}

// hostAddress stands for this machine in the EndpointSlices of Services: a documentation address, because a loopback address is not
// accepted there. Connections to it go through the tunnel, so nothing has to be there.
var hostAddress = netip.MustParseAddr("192.0.2.2")

// Expose lets the API server reach a server on loopback until remove is called, by the address that is returned. A Service leads there
// whose EndpointSlice names that address and its port.
func (c *Cluster) Expose(_ context.Context, local netip.AddrPort) (address netip.AddrPort, remove func(), err error) {
	return expose(local, exposedAt(c.opts.RealNode), c.Route)
}

// Expose is Cluster.Expose from another process; it ends with this process at the latest.
func (c *Client) Expose(ctx context.Context, local netip.AddrPort) (address netip.AddrPort, remove func(), err error) {
	status, err := c.Status(ctx)
	if err != nil {
		return netip.AddrPort{}, nil, fmt.Errorf("let the API server reach %s: %w", local, err)
	}
	return expose(local, exposedAt(status.RealNode), func(from, to string) (func(), error) { return c.Route(ctx, from, to) })
}

// expose uses the port of the server, which is its own on this machine, so that the addresses of several do not clash.
func expose(local netip.AddrPort, host netip.Addr, route func(from, to string) (func(), error)) (netip.AddrPort, func(), error) {
	address := netip.AddrPortFrom(host, local.Port())
	remove, err := route(address.String(), local.String())
	if err != nil {
		return netip.AddrPort{}, nil, fmt.Errorf("let the API server reach %s: %w", local, err)
	}
	return address, remove, nil
}
