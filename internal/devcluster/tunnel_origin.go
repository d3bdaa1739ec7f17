package devcluster

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// routeOrigin is what the API server wants to reach: a pod's IP address or a Service, with one port or, when Port is 0, any.
// For a Service the port is the Service's own, for an address it is the pod's.
type routeOrigin struct {
	IP                 netip.Addr
	Namespace, Service string
	Port               uint16
}

// parseOrigin reads IP, IP:PORT, NAMESPACE/SERVICE or NAMESPACE/SERVICE:PORT; IPv6 addresses with a port need brackets.
func parseOrigin(s string) (routeOrigin, error) {
	if ip, err := netip.ParseAddr(s); err == nil {
		return routeOrigin{IP: ip}, nil
	}
	if address, err := netip.ParseAddrPort(s); err == nil {
		return routeOrigin{IP: address.Addr(), Port: address.Port()}, nil
	}
	namespace, rest, ok := strings.Cut(s, "/")
	service, port, hasPort := strings.Cut(rest, ":")
	if !ok || namespace == "" || service == "" || strings.Contains(service, "/") {
		return routeOrigin{}, fmt.Errorf("route from %q: want IP, IP:PORT, NAMESPACE/SERVICE or NAMESPACE/SERVICE:PORT", s)
	}
	origin := routeOrigin{Namespace: namespace, Service: service}
	if hasPort {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return routeOrigin{}, fmt.Errorf("route from %q: %q is not a port number", s, port)
		}
		origin.Port = uint16(number)
	}
	return origin, nil
}

// String is the form that ParseOrigin reads.
func (o routeOrigin) String() string {
	name := o.Namespace + "/" + o.Service
	if o.Service == "" {
		if o.Port != 0 {
			return netip.AddrPortFrom(o.IP, o.Port).String()
		}
		return o.IP.String()
	}
	if o.Port != 0 {
		return name + ":" + strconv.Itoa(int(o.Port))
	}
	return name
}
