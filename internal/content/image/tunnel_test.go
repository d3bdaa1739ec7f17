package image

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// TestTunnel reads images of a registry whose name only the dial function knows, with TLS and without; other hosts are reached as the environment says.
func TestTunnel(t *testing.T) {
	t.Parallel()
	plain := newTestRegistry(t)
	secure, certificate := newTLSRegistry(t)
	_, port, _ := net.SplitHostPort(secure.host)
	certs := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(certs, "ca.crt"), certificate, 0o600))
	for name, test := range map[string]struct {
		registry *testRegistry
		config   Config
		host, to string
	}{
		"without TLS": {plain, Config{Insecure: []string{"registry.cat.svc:5000"}}, "registry.cat.svc:5000", plain.host},
		"with TLS":    {secure, Config{CertsDir: certs}, "registry.test:5000", "127.0.0.1:" + port},
	} {
		t.Run(name, func(t *testing.T) {
			test.registry.fill(t, test.config, "test/image:v1", "content")
			var mu sync.Mutex
			var dialled []string
			tunnel := &Tunnel{Reaches: func(host string) bool { return strings.HasPrefix(host, "registry.") }, Dial: func(ctx context.Context, address string) (net.Conn, error) {
				mu.Lock()
				dialled = append(dialled, address)
				mu.Unlock()
				return (&net.Dialer{}).DialContext(ctx, "tcp", test.to)
			}}
			test.config.Proxy = tunnel.Proxy
			_, files := pullFiles(t, openStore(t, test.config), test.host+"/test/image:v1", PullOptions{})
			must.Equal(t, "files", len(files), 1)
			mu.Lock()
			must.Equal(t, "it was dialled", len(dialled) > 0 && dialled[0] == test.host, true)
			mu.Unlock()
			at := must.Value(tunnel.Proxy(&url.URL{Scheme: "http", Host: test.host}))(t)

			// No other process uses it, and it leads nowhere else.
			for what, user := range map[string]*url.Userinfo{"without its secret": nil, "with another secret": url.UserPassword(tunnelUser, "x")} {
				client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: at.Host, User: user})}}
				response := must.Value(client.Get("http://registry.cat.svc/v2/"))(t)
				must.Equal(t, what, response.StatusCode, http.StatusProxyAuthRequired)
				must.NoError(t, response.Body.Close())
			}
			client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
			response := must.Value(client.Get("http://elsewhere.example.com/"))(t)
			must.Equal(t, "another host", response.StatusCode, http.StatusProxyAuthRequired)
			must.NoError(t, response.Body.Close())

			must.NoError(t, tunnel.Close())
			if _, err := client.Get("http://registry.cat.svc/v2/"); err == nil {
				t.Error("it is there after its end")
			}
		})
	}
	other := &Tunnel{Reaches: func(string) bool { return false }}
	if at, err := other.Proxy(&url.URL{Scheme: "https", Host: "registry.example.com"}); at != nil || err != nil {
		t.Errorf("a host that it does not reach: %v, %v", at, err)
	}
	must.NoError(t, other.Close())
}

// TestTunnelThatFails says why in the answer.
func TestTunnelThatFails(t *testing.T) {
	t.Parallel()
	tunnel := &Tunnel{Reaches: func(string) bool { return true }, Dial: func(context.Context, string) (net.Conn, error) {
		return nil, errors.New("none of the 2 pods behind it is ready")
	}}
	t.Cleanup(func() { must.NoError(t, tunnel.Close()) })
	at := must.Value(tunnel.Proxy(&url.URL{Host: "registry.cat.svc"}))(t)
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
	response := must.Value(client.Get("http://registry.cat.svc/v2/"))(t)
	defer response.Body.Close()
	must.Equal(t, "status", response.Status, "502 no connection through the tunnel: none of the 2 pods behind it is ready")
	_, err := client.Get("https://registry.cat.svc/v2/")
	must.Fail(t, "with TLS", err, "none of the 2 pods behind it is ready")

	for name, config := range map[string]Config{"with TLS": {}, "with TLS or without": {Insecure: []string{"registry.cat.svc:5000"}}} {
		config.Proxy = tunnel.Proxy
		_, err := openStore(t, config).Pull(t.Context(), "registry.cat.svc:5000/test/image:v1", PullOptions{})
		must.Equal(t, "kind of an image "+name, KindOf(err), Unavailable)
		must.Fail(t, "an image "+name, err, "pull image registry.cat.svc:5000/test/image:v1: Unavailable: none of the 2 pods behind it is ready (")
	}
}

// TestTunnelWithAReasonOfManyLines: what is said of a failure neither ends the answer early nor adds to it.
func TestTunnelWithAReasonOfManyLines(t *testing.T) {
	t.Parallel()
	tunnel := &Tunnel{Reaches: func(string) bool { return true }, Dial: func(context.Context, string) (net.Conn, error) {
		return nil, errors.New("forbidden:\r\n\r\nX-Evil: 1\nask for the right")
	}}
	t.Cleanup(func() { must.NoError(t, tunnel.Close()) })
	at := must.Value(tunnel.Proxy(&url.URL{Host: "registry.cat.svc"}))(t)
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
	_, err := client.Get("https://registry.cat.svc/v2/")
	must.Fail(t, "with TLS", err, ": forbidden: X-Evil: 1 ask for the right")
}

// TestTunnelCloses what it carries, and what it still connects to, and is not opened again.
func TestTunnelCloses(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	dialling, ended := make(chan struct{}), make(chan struct{})
	tunnel := &Tunnel{Reaches: func(string) bool { return true }, Dial: func(ctx context.Context, address string) (net.Conn, error) {
		if address == "registry.cat.svc:443" {
			return near, nil
		}
		close(dialling)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}}
	at := must.Value(tunnel.Proxy(&url.URL{Host: "registry.cat.svc"}))(t)
	ask := func(host string) net.Conn {
		conn := must.Value(net.Dial("tcp", at.Host))(t)
		password, _ := at.User.Password()
		credentials := base64.StdEncoding.EncodeToString([]byte(at.User.Username() + ":" + password))
		must.Value(fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\nProxy-Authorization: Basic %s\r\n\r\n", host, credentials))(t)
		return conn
	}
	carried, waiting := ask("registry.cat.svc:443"), ask("silent.cat.svc:443")
	defer carried.Close()
	defer waiting.Close()
	answer := make([]byte, len("HTTP/1.1 200"))
	must.Value(io.ReadFull(carried, answer))(t)
	must.Equal(t, "answer", string(answer), "HTTP/1.1 200")
	<-dialling
	for _, conn := range []net.Conn{far, carried} {
		must.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	}
	must.NoError(t, tunnel.Close())
	select {
	case <-ended:
	default:
		t.Error("it is closed while it connects")
	}
	if _, err := far.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the registry's side of a connection: %v, want its end", err)
	}
	_, err := io.Copy(io.Discard, carried)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the client's side of a connection is open after the tunnel's end")
	}
	_, err = tunnel.Proxy(&url.URL{Host: "registry.cat.svc"})
	must.Fail(t, "proxy after its end", err, "open a tunnel to the registry at registry.cat.svc: it is closed")
	must.NoError(t, tunnel.Close())
}
