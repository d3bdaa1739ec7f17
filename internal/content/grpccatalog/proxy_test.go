package grpccatalog

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// proxied is a proxy that leads everything to one server, if it is asked with the right password.
func proxied(t *testing.T, to string, asked *atomic.Value) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method + " " + r.Host)
		if user, password, _ := parseProxyAuth(r); user != "me" || password != "secret" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		target, err := net.Dial("tcp", to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		conn, rest, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { defer conn.Close(); _, _ = io.Copy(conn, target) }()
		go func() { defer target.Close(); _, _ = io.Copy(target, rest) }()
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func parseProxyAuth(r *http.Request) (user, password string, ok bool) {
	copied := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	return copied.BasicAuth()
}

func TestProxy(t *testing.T) {
	const name = "catalogs.example.com:50051" // which nobody here can resolve: the proxy does
	pair, _ := issue(t)
	for kind, server := range map[string]string{"plain": plain(t), "with TLS": secured(t, pair)} {
		var asked atomic.Value
		proxy := proxied(t, server, &asked)
		t.Run(kind, func(t *testing.T) {
			t.Setenv("NO_PROXY", "other.example.com")
			t.Setenv("GRPC_PROXY", "http://me:secret@"+proxy)
			if err := answered(t, name, nil); err != nil || asked.Load() != "CONNECT "+name {
				t.Errorf("asked %v, %v", asked.Load(), err)
			}
		})
		t.Run(kind+", refused", func(t *testing.T) {
			t.Setenv("GRPC_PROXY", "http://me:wrong@"+proxy)
			if err := answered(t, name, nil); err == nil || !strings.Contains(err.Error(), "407") || strings.Contains(err.Error(), "wrong") {
				t.Errorf("got %v, want 407 without the password", err)
			}
		})
		t.Run(kind+", not for this one", func(t *testing.T) {
			t.Setenv("GRPC_PROXY", "http://me:secret@"+proxy)
			for variable, value := range map[string]string{"NO_PROXY": ".example.com", "no_proxy": "catalogs.example.com"} {
				t.Setenv("NO_PROXY", "")
				t.Setenv(variable, value)
				if found, err := proxyFor(name); found != nil || err != nil {
					t.Errorf("%s=%s: %v, %v", variable, value, found, err)
				}
			}
		})
	}
	t.Setenv("GRPC_PROXY", "http://127.0.0.1:1")
	must.NoErrorf(t, answered(t, plain(t), nil), "a server of this machine")
}
