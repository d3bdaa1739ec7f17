package image

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/messages"
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
	closed bool
	open   map[net.Conn]bool // connections that the server gave up to connect, and those that they lead to
	wait   sync.WaitGroup    // the server, and what it serves
}

// Proxy is a Config.Proxy.
func (t *Tunnel) Proxy(to *url.URL) (*url.URL, error) {
	if !t.Reaches(to.Hostname()) {
		return http.ProxyFromEnvironment(&http.Request{URL: to})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, fmt.Errorf("open a tunnel to the registry at %s: it is closed, as the program that used it ends", to.Host)
	case t.at != nil:
		return t.at, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a tunnel to the registry at %s: %w", to.Host, err)
	}
	t.secret = rand.Text()
	t.server = &http.Server{Handler: t, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	t.at = &url.URL{Scheme: "http", Host: listener.Addr().String(), User: url.UserPassword(tunnelUser, t.secret)}
	t.open = map[net.Conn]bool{}
	server := t.server
	t.wait.Go(func() { _ = server.Serve(listener) }) // it ends with Close
	return t.at, nil
}

const tunnelUser = "fairlead"

// Close ends the tunnel and its connections, and returns when nothing of it runs. It cannot be used any more.
func (t *Tunnel) Close() error {
	t.mu.Lock()
	t.closed, t.at = true, nil
	var err error
	if t.server != nil {
		err = t.server.Close() // which cancels the requests that are being served, but leaves what was hijacked alone
	}
	for conn := range t.open {
		_ = conn.Close() // what reads or writes it ends
	}
	t.mu.Unlock()
	t.wait.Wait()
	return err
}

// begin counts a request that is served, so that Close waits for it; false once the tunnel is closed.
func (t *Tunnel) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.wait.Add(1)
	return true
}

// keep remembers a connection until forget, so that Close ends it. One that comes too late is closed at once.
func (t *Tunnel) keep(conn net.Conn) (forget func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		_ = conn.Close() // no one reads it
	}
	t.open[conn] = true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, conn)
		_ = conn.Close() // its other side may have ended first
	}
}

// ServeHTTP answers as a proxy.
func (t *Tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !t.begin() {
		http.Error(w, "this proxy is closed", http.StatusServiceUnavailable)
		return
	}
	defer t.wait.Done()
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
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { t.refuse(w, err) }}
	proxy.ServeHTTP(w, r)
}

const (
	// maxRefusal is how much of why there is no connection is reported, in bytes.
	maxRefusal = 1000
	// refusal begins the report.
	refusal = "no connection through the tunnel: "
)

// refuse reports why there is no connection in the status line: that is all that the libraries repeat of an answer, of one to CONNECT in particular.
func (t *Tunnel) refuse(w http.ResponseWriter, failed error) {
	conn, err := t.hijack(w)
	if err != nil {
		return // the client ended it
	}
	defer t.keep(conn)()
	reason := refusal + strings.Join(strings.Fields(messages.Line(failed.Error(), maxRefusal)), " ")
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", http.StatusBadGateway, reason)
}

// connection is one that a server gave up, with what was read of it already.
type connection struct {
	net.Conn
	read io.Reader
}

// Read implements net.Conn.
func (c connection) Read(p []byte) (int, error) { return c.read.Read(p) }

func (t *Tunnel) hijack(w http.ResponseWriter) (net.Conn, error) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	return connection{conn, buffered}, nil
}

// connect carries a connection, as for TLS.
func (t *Tunnel) connect(w http.ResponseWriter, r *http.Request) {
	to, err := t.Dial(r.Context(), r.Host)
	if err != nil {
		t.refuse(w, err)
		return
	}
	defer t.keep(to)() // it ends with the connection that it is carried for
	from, err := t.hijack(w)
	if err != nil {
		return
	}
	defer t.keep(from)()
	if _, err := io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(to, from) // an end of either side ends both
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
	_ = from.Close()
	<-done
}
