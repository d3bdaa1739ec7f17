package manager

import (
	"context"
	"net/netip"
	"strings"
	"testing"
)

func TestWherePackagesAreServed(t *testing.T) {
	route := func(_ context.Context, local netip.AddrPort) (netip.AddrPort, func(), error) {
		return local, func() {}, nil
	}
	tests := map[string]struct {
		options            PackageServer
		podIP              string
		address, namespace string
		problem            string
	}{
		"outside of a pod not at all":              {address: "0", namespace: "olm"},
		"in a pod on the usual port":               {podIP: "10.0.0.7", address: ":5443", namespace: "manager"},
		"in a pod, switched off":                   {options: PackageServer{Address: "0"}, podIP: "10.0.0.7", address: "0", namespace: "manager"},
		"where it is told to":                      {options: PackageServer{Address: ":6000", Advertise: "10.0.0.7:443", Namespace: "here"}, address: ":6000", namespace: "here"},
		"told only how it is reached":              {options: PackageServer{Advertise: "10.0.0.7:443"}, address: ":5443", namespace: "olm"},
		"on the embedded cluster on loopback":      {options: PackageServer{Route: route}, address: "127.0.0.1:0", namespace: "olm"},
		"on the embedded cluster where it is told": {options: PackageServer{Route: route, Address: ":6000"}, address: ":6000", namespace: "olm"},
		"where nobody can reach it":                {options: PackageServer{Address: ":6000"}, problem: "pods cannot reach"},
		"at no port":                               {options: PackageServer{Address: "here"}, problem: "give HOST:PORT"},
		"reached by loopback":                      {options: PackageServer{Address: ":6000", Advertise: "127.0.0.1:6000"}, problem: "give IP:PORT"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(PodIPVariable, test.podIP)
			t.Setenv(podNamespaceVariable, "")
			if test.podIP != "" {
				t.Setenv(podNamespaceVariable, "manager")
			}
			got, err := test.options.settle("olm")
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("got %v, want %q", err, test.problem)
				}
				return
			}
			if err != nil || got.Address != test.address || got.Namespace != test.namespace {
				t.Errorf("address %q in namespace %q, want %q in %q: %v", got.Address, got.Namespace, test.address, test.namespace, err)
			}
		})
	}
}

// TestPackagesGoThroughTheRoute looks at the address that an API server without a way of its own is given.
func TestPackagesGoThroughTheRoute(t *testing.T) {
	var asked netip.AddrPort
	p := packages{PackageServer: PackageServer{Route: func(_ context.Context, local netip.AddrPort) (netip.AddrPort, func(), error) {
		asked = local
		return netip.MustParseAddrPort("192.0.2.2:6000"), func() {}, nil
	}}}
	at, _, err := p.advertised(t.Context(), netip.MustParseAddrPort("[::]:6000"))
	if err != nil || at.String() != "192.0.2.2:6000" || asked.String() != "127.0.0.1:6000" {
		t.Errorf("the route is asked for %s and gives %s, %v", asked, at, err)
	}
}
