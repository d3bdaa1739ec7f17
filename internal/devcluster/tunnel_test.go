package devcluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

func TestTunnelLookup(t *testing.T) {
	table := &routeTable{Endpoints: func(_ context.Context, namespace, service string, port uint16) ([]netip.AddrPort, error) {
		all := map[string]string{"ns/web:0": "10.0.0.9:8080", "ns/web:443": "10.0.0.9:8443", "ns/gone:0": ""}
		address := all[fmt.Sprintf("%s/%s:%d", namespace, service, port)]
		if address == "" {
			return nil, nil
		}
		return []netip.AddrPort{netip.MustParseAddrPort(address)}, nil
	}}
	for from, to := range map[string]string{
		"10.0.0.1":      "127.0.0.1:1",
		"10.0.0.1:8443": "127.0.0.1:2",
		"ns/web":        "localhost:3",
		"ns/web:443":    "[::1]:4",
		"ns/gone":       "127.0.0.1:5",
	} {
		addRoute(t, table, from, to)
	}
	tests := map[string]struct{ address, want string }{
		"an address and its port":     {"10.0.0.1:8443", "127.0.0.1:2"},
		"an address and another port": {"10.0.0.1:80", "127.0.0.1:1"},
		"a service's port":            {"10.0.0.9:8443", "[::1]:4"},
		"a service's other port":      {"10.0.0.9:8080", "localhost:3"},
		"neither":                     {"10.0.0.9:1", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := table.Lookup(t.Context(), netip.MustParseAddrPort(test.address))
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func addRoute(t *testing.T, table *routeTable, from, to string) (remove func()) {
	t.Helper()
	origin := must.Value(parseOrigin(from))(t)
	remove = must.Value(table.Add(origin, to))(t)
	return remove
}

// TestAPodThatIsGoneAnswersForAMoment, as one that is being deleted does.
func TestTunnelAPodThatIsGoneAnswersForAMoment(t *testing.T) {
	pod := netip.MustParseAddrPort("10.0.0.1:8443")
	endpoints := []netip.AddrPort{pod}
	table := &routeTable{Endpoints: func(context.Context, string, string, uint16) ([]netip.AddrPort, error) { return endpoints, nil }}
	must.Value(table.Add(routeOrigin{Namespace: "ns", Service: "hook"}, "127.0.0.1:1"))(t)
	endpoints = nil
	if target, err := table.Lookup(t.Context(), pod); err == nil {
		t.Errorf("a pod that nobody has asked answers: %s", target)
	}
	endpoints = []netip.AddrPort{pod}
	must.Value(table.Lookup(t.Context(), pod))(t)
	endpoints = nil
	if target, err := table.Lookup(t.Context(), pod); target != "127.0.0.1:1" {
		t.Errorf("it leads to %q, %v", target, err)
	}
	table.answered[pod] = podAnswer{"127.0.0.1:1", time.Now().Add(-linger)}
	if target, err := table.Lookup(t.Context(), pod); err == nil {
		t.Errorf("it answers for ever: %s", target)
	}
}

func TestTunnelOneRouteForEachOrigin(t *testing.T) {
	table := &routeTable{}
	remove := addRoute(t, table, "10.0.0.1", "127.0.0.1:1")
	origin := routeOrigin{IP: netip.MustParseAddr("10.0.0.1")}
	_, err := table.Add(origin, "127.0.0.1:2")
	must.Fail(t, "a second route", err, "127.0.0.1:1")
	remove()
	addRoute(t, table, "10.0.0.1", "127.0.0.1:2")
}

func TestTunnelTargetsAreOnLoopback(t *testing.T) {
	for target, allowed := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true,
		"10.0.0.1:1": false, "example.com:443": false, "127.0.0.1": false, ":80": false, "": false,
	} {
		_, err := (&routeTable{}).Add(routeOrigin{IP: netip.MustParseAddr("10.0.0.1")}, target)
		if (err == nil) != allowed {
			t.Errorf("target %q: %v, allowed should be %t", target, err, allowed)
		}
	}
}

// serveTunnel runs a proxy on a Unix socket.
func serveTunnel(t *testing.T, table *routeTable) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s")
	listener := must.Value(net.Listen("unix", socket))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&tunnelProxy{Routes: table}).Serve(listener)
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	return socket
}

func echoServer(t *testing.T) string {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.Copy(conn, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// exchangeThrough sends raw bytes, ends its side, and returns the answer and what follows it.
func exchangeThrough(t *testing.T, socket, raw string) (*http.Response, string) {
	t.Helper()
	conn := must.Value(net.Dial("unix", socket))(t)
	defer conn.Close()
	must.Value(io.WriteString(conn, raw))(t)
	conn.(*net.UnixConn).CloseWrite()
	reader := bufio.NewReader(conn)
	response := must.Value(http.ReadResponse(reader, &http.Request{Method: http.MethodConnect}))(t)
	rest := must.Value(io.ReadAll(reader))(t)
	return response, string(rest)
}

func TestTunnelProxy(t *testing.T) {
	table := &routeTable{}
	addRoute(t, table, "10.0.0.1:8443", echoServer(t))
	unused := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	unused.Close()
	addRoute(t, table, "10.0.0.2", unused.Addr().String())
	socket := serveTunnel(t, table)

	tests := map[string]struct {
		request string
		code    int
		status  string
		rest    string
	}{
		"a registered pod":                 {"CONNECT 10.0.0.1:8443 HTTP/1.1\r\nHost: x\r\n\r\n", 200, "established", ""},
		"data that comes with the request": {"CONNECT 10.0.0.1:8443 HTTP/1.1\r\nHost: x\r\n\r\nhello", 200, "established", "hello"},
		"another port of it":               {"CONNECT 10.0.0.1:80 HTTP/1.1\r\nHost: x\r\n\r\n", 502, "no server is registered for 10.0.0.1:80", ""},
		"a server that is gone":            {"CONNECT 10.0.0.2:80 HTTP/1.1\r\nHost: x\r\n\r\n", 502, "registered for 10.0.0.2:80 does not answer", ""},
		"a name":                           {"CONNECT node-1:10250 HTTP/1.1\r\nHost: x\r\n\r\n", 502, "node-1:10250 is not the address of a pod", ""},
		"another method":                   {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 405, "only CONNECT", ""},
		"not HTTP":                         {"hello\r\n\r\n", 400, "not an HTTP request", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			response, rest := exchangeThrough(t, socket, test.request)
			if response.StatusCode != test.code || !strings.Contains(response.Status, test.status) {
				t.Errorf("answer is %q, want %d and %q", response.Status, test.code, test.status)
			}
			must.Equal(t, "the rest", rest, test.rest)
		})
	}
}

func TestTunnelEndlessHeaderEndsTheConnection(t *testing.T) {
	conn := must.Value(net.Dial("unix", serveTunnel(t, &routeTable{})))(t)
	defer conn.Close()
	fmt.Fprint(conn, "CONNECT 10.0.0.1:1 HTTP/1.1\r\n")
	for range 1000 {
		if _, err := fmt.Fprintf(conn, "X: %s\r\n", strings.Repeat("x", maxRequest)); err != nil {
			return
		}
	}
	t.Error("the proxy took 8 MB of header")
}

func TestTunnelFailedServiceLookupIsExplained(t *testing.T) {
	table := &routeTable{Endpoints: func(context.Context, string, string, uint16) ([]netip.AddrPort, error) {
		return nil, errors.New("the API server\nis slow")
	}}
	addRoute(t, table, "ns/web", "127.0.0.1:1")
	socket := serveTunnel(t, table)
	response, _ := exchangeThrough(t, socket, "CONNECT 10.0.0.1:80 HTTP/1.1\r\nHost: x\r\n\r\n")
	if want := "find the pods of the routed service ns/web: the API server is slow"; !strings.Contains(response.Status, want) {
		t.Errorf("answer is %q, want %q on one line", response.Status, want)
	}
}

func TestTunnelClosingTheListenerEndsConnections(t *testing.T) {
	table := &routeTable{}
	addRoute(t, table, "10.0.0.1", echoServer(t))
	socket := filepath.Join(t.TempDir(), "s")
	listener := must.Value(net.Listen("unix", socket))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&tunnelProxy{Routes: table}).Serve(listener)
	}()
	conn := must.Value(net.Dial("unix", socket))(t)
	defer conn.Close()
	fmt.Fprint(conn, "CONNECT 10.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n")
	reader := bufio.NewReader(conn)
	must.Value(http.ReadResponse(reader, &http.Request{Method: http.MethodConnect}))(t)
	listener.Close()
	if _, err := reader.ReadByte(); err == nil {
		t.Error("the connection is still open")
	}
	<-done
}
