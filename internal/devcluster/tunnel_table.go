package devcluster

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// podEndpoints lists the pod addresses behind a Service; port is the Service's, or 0 for all of them.
type podEndpoints func(ctx context.Context, namespace, service string, port uint16) ([]netip.AddrPort, error)

// routeTable holds the registered routes. The zero value is empty and knows no Services.
type routeTable struct {
	// podEndpoints is asked when no route names the address itself.
	Endpoints podEndpoints

	mu     sync.RWMutex
	routes map[routeOrigin]string
	// answered is where connections to pods of routed Services went lately.
	answered map[netip.AddrPort]podAnswer
}

// linger is how long the server of a Service answers for a pod that is gone. Pods that are being deleted answer until they end, and the API
// server may not have heard of that when it chooses one of them.
const linger = 5 * time.Second

type podAnswer struct {
	target string
	at     time.Time
}

// Add routes connections for origin to a local server until remove is called. An origin has one route at a time.
func (t *routeTable) Add(origin routeOrigin, target string) (remove func(), err error) {
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		return nil, fmt.Errorf("route to %q: give HOST:PORT of a local server: %w", target, err)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("route to %s: only servers on loopback addresses can stand in for pods", target)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if other, taken := t.routes[origin]; taken {
		return nil, fmt.Errorf("route %s to %s: it is routed to %s already", origin, target, other)
	}
	if t.routes == nil {
		t.routes = map[routeOrigin]string{}
	}
	t.routes[origin] = target
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.routes, origin)
	}, nil
}

// Lookup finds the local server for a pod's address: a route for the address and port, for the address, or for a Service
// that has the address among its endpoints, in this order.
func (t *routeTable) Lookup(ctx context.Context, address netip.AddrPort) (string, error) {
	t.mu.RLock()
	target, ok := t.routes[routeOrigin{IP: address.Addr(), Port: address.Port()}]
	if !ok {
		target, ok = t.routes[routeOrigin{IP: address.Addr()}]
	}
	services := t.services()
	t.mu.RUnlock()
	if ok {
		return target, nil
	}
	for _, route := range services {
		endpoints, err := t.Endpoints(ctx, route.origin.Namespace, route.origin.Service, route.origin.Port)
		if err != nil {
			return "", fmt.Errorf("find the pods of the routed service %s: %w", route.origin, err)
		}
		if slices.Contains(endpoints, address) {
			t.remember(address, route.target)
			return route.target, nil
		}
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if last, ok := t.answered[address]; ok && time.Since(last.at) < linger {
		return last.target, nil
	}
	return "", fmt.Errorf("no server is registered for %s, and a simulated pod has none of its own; register one with devcluster.Route", address)
}

// remember notes where a pod's connections go, and forgets what is too long ago.
func (t *routeTable) remember(address netip.AddrPort, target string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.answered, func(_ netip.AddrPort, a podAnswer) bool { return time.Since(a.at) >= linger })
	if t.answered == nil {
		t.answered = map[netip.AddrPort]podAnswer{}
	}
	t.answered[address] = podAnswer{target, time.Now()}
}

type serviceRoute struct {
	origin routeOrigin
	target string
}

func (t *routeTable) services() []serviceRoute {
	if t.Endpoints == nil {
		return nil
	}
	var found []serviceRoute
	for origin, target := range t.routes {
		if origin.Service != "" {
			found = append(found, serviceRoute{origin, target})
		}
	}
	// A route for one port of a Service comes before one for all its ports.
	slices.SortFunc(found, func(a, b serviceRoute) int { return int(b.origin.Port) - int(a.origin.Port) })
	return found
}
