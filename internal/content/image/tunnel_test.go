package image

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

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
	must.Contain(t, "answer", string(must.Value(io.ReadAll(response.Body))(t)), "none of the 2 pods behind it is ready")
	must.Equal(t, "status", response.StatusCode, http.StatusBadGateway)
	if _, err := client.Get("https://registry.cat.svc/v2/"); err == nil {
		t.Error("a connection is made of nothing")
	}
}
