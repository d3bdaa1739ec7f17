package grpccatalog

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
	certs "fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
)

// issue makes a certificate for localhost, and the authority that vouches for it.
func issue(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	issued := must.Value(certs.Issue(certs.Request{Hosts: []string{"localhost"}, Now: time.Now()}))(t)
	pair := must.Value(tls.X509KeyPair(issued.Certificate, issued.Key))(t)
	return pair, issued.CABundle
}

// secured is a server with a certificate.
func secured(t *testing.T, pair tls.Certificate) string {
	s := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})))
	registry.RegisterRegistryServer(s, &oldServer{})
	_, port, err := net.SplitHostPort(listen(t, s))
	must.NoError(t, err)
	return "localhost:" + port
}

func plain(t *testing.T) string {
	s := grpc.NewServer()
	registry.RegisterRegistryServer(s, &oldServer{})
	return listen(t, s)
}

// answered asks a server for its packages.
func answered(t *testing.T, address string, authorities []byte) error {
	t.Helper()
	c, err := Dial(address, Options{Authorities: authorities})
	if err != nil {
		return err
	}
	defer c.Close()
	for _, err := range c.Packages(t.Context()) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestEncryption(t *testing.T) {
	pair, authorities := issue(t)
	_, others := issue(t)
	tests := map[string]struct {
		address     string
		authorities []byte
		fails       string
	}{
		"TLS, whoever it is":               {secured(t, pair), nil, ""},
		"TLS, vouched for":                 {secured(t, pair), authorities, ""},
		"TLS, vouched for by nobody known": {secured(t, pair), others, "certificate"},
		"no TLS":                           {plain(t), nil, ""},
		"no TLS, and it is required":       {plain(t), authorities, "speak TLS, which is required because a CA bundle is given"},
		"no certificates":                  {plain(t), []byte("x"), "the CA bundle for its certificate cannot be read"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := answered(t, test.address, test.authorities)
			if (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("got %v, want %q", err, test.fails)
			}
		})
	}
}

// TestNobodyListensToTLS: what passes between the two is not to be read on the way.
func TestNobodyListensToTLS(t *testing.T) {
	pair, _ := issue(t)
	target := secured(t, pair)
	seen := make(chan []byte, 100)
	proxy := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { proxy.Close() })
	go func() {
		for {
			from, err := proxy.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", target)
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(from, to) }()
			go func() {
				buffer := make([]byte, 64<<10)
				for {
					n, err := from.Read(buffer)
					if n > 0 {
						seen <- append([]byte(nil), buffer[:n]...)
						_, _ = to.Write(buffer[:n])
					}
					if err != nil {
						to.Close()
						return
					}
				}
			}()
		}
	}()
	must.NoError(t, answered(t, proxy.Addr().String(), nil))
	all := ""
	for len(seen) > 0 {
		all += string(<-seen)
	}
	if all == "" || strings.Contains(all, "PRI * HTTP/2.0") {
		t.Error("the connection could be read on the way")
	}
}

func TestAServerThatSaysNothing(t *testing.T) {
	t.Parallel()
	silent := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { silent.Close() })
	c := dial(t, silent.Addr().String())
	c.Connect()
	deadline := time.Now().Add(30 * time.Second)
	for c.State() != connectivity.TransientFailure && time.Now().Before(deadline) {
		c.Changed(t.Context(), c.State())
	}
	must.Equal(t, "serving", status.Code(c.Serving(t.Context())), codes.Unavailable)
}

func TestOutline(t *testing.T) {
	_, _, client := original(t)
	first, err := client.Outline(t.Context())
	if err != nil || first == "" {
		t.Fatalf("outline %q, %v", first, err)
	}
	must.Equal(t, "outline", must.Value(client.Outline(t.Context()))(t), first)
	must.NoError(t, client.Serving(t.Context()))
	other := dial(t, plain(t))
	if second, err := other.Outline(t.Context()); err != nil || second == first {
		t.Errorf("another catalog has the same outline: %v", err)
	}
	must.NoErrorf(t, other.Serving(t.Context()), "a server without health checks")
}
