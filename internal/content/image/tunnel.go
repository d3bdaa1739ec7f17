package image

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// Tunnel lets images be read from registries that only a dial function reaches, such as those that are Services of a cluster. The libraries that read
// images take proxies alone, so it is one: an HTTP proxy on loopback, which no other process can use, and which begins when it is needed first.
type Tunnel struct {
	// Dial connects to HOST:PORT of a registry.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Reaches reports whether a host is to be reached through Dial. Others are reached as the environment says.
	Reaches func(host string) bool

	mu     sync.Mutex
	server *http.Server
	at     *url.URL
	secret string
}

// Proxy is a Config.Proxy.
func (t *Tunnel) Proxy(to *url.URL) (*url.URL, error) {
	if !t.Reaches(to.Hostname()) {
		return http.ProxyFromEnvironment(&http.Request{URL: to})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.at != nil {
		return t.at, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a tunnel to the registry at %s: %w", to.Host, err)
	}
	t.secret = rand.Text()
	t.server = &http.Server{Handler: t, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	t.at = &url.URL{Scheme: "http", Host: listener.Addr().String(), User: url.UserPassword(tunnelUser, t.secret)}
	go t.server.Serve(listener) //nolint:errcheck // it ends with Close
	return t.at, nil
}

const tunnelUser = "fairlead"

// Close ends the tunnel and its connections.
func (t *Tunnel) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.server == nil {
		return nil
	}
	return t.server.Close()
}

// ServeHTTP answers as a proxy.
func (t *Tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(tunnelUser+":"+t.secret))
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Proxy-Authorization")), []byte(want)) != 1 || !t.Reaches(r.URL.Hostname()) {
		http.Error(w, "this proxy is for the process that began it", http.StatusProxyAuthRequired)
		return
	}
	r.Header.Del("Proxy-Authorization")
	if r.Method == http.MethodConnect {
		t.connect(w, r)
		return
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return t.Dial(ctx, address) }}
	proxy := httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: transport, ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}}
	proxy.ServeHTTP(w, r)
}

// connect carries a connection, as for TLS.
func (t *Tunnel) connect(w http.ResponseWriter, r *http.Request) {
	to, err := t.Dial(r.Context(), r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = to.Close() }() // which ends with the connection that it is carried for
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		http.Error(w, errors.ErrUnsupported.Error(), http.StatusInternalServerError)
		return
	}
	from, buffered, err := hijacker.Hijack()
	if err != nil {
		return
	}
	defer func() { _ = from.Close() }()
	if _, err := io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(to, buffered) // an end of either side ends both
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
	_ = from.Close()
	<-done
}
