// Package tunnel lets the API server of an embedded cluster reach servers on the host in the place of simulated pods,
// which have an address but no socket. The API server sends each call to a webhook or an aggregated API as an HTTP CONNECT
// to the pod's address; the proxy here hands the connection to the local server registered for that address or for a
// Service in front of it.
//
// It never dials anything that was not registered, and never anything but loopback. Start reading at Proxy.Serve.
package tunnel

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	requestTimeout = 10 * time.Second
	dialTimeout    = 5 * time.Second
	maxRequest     = 8 << 10
)

// Proxy is the CONNECT proxy.
type Proxy struct {
	Routes *Table
}

// Serve accepts connections until the listener is closed, and then ends those that are open.
func (p *Proxy) Serve(listener net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	var open sync.WaitGroup
	defer open.Wait()
	defer cancel()
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(50 * time.Millisecond) // out of file descriptors: let some connections end
			continue
		}
		open.Go(func() { p.handle(ctx, conn) })
	}
}

func (p *Proxy) handle(ctx context.Context, client net.Conn) {
	defer closeWith(ctx, client)()

	_ = client.SetDeadline(time.Now().Add(requestTimeout)) // fails only on a closed connection, and then so does what follows
	reader := bufio.NewReader(io.LimitReader(client, maxRequest))
	request, err := http.ReadRequest(reader)
	if err != nil {
		refuse(client, http.StatusBadRequest, "not an HTTP request")
		return
	}
	if request.Method != http.MethodConnect {
		refuse(client, http.StatusMethodNotAllowed, "only CONNECT is served here")
		return
	}
	server, err := p.dial(ctx, request.Host)
	if err != nil {
		refuse(client, http.StatusBadGateway, err.Error())
		return
	}
	defer closeWith(ctx, server)()

	_ = client.SetDeadline(time.Time{})
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	early, err := reader.Peek(reader.Buffered())
	if err != nil {
		return
	}
	join(client, server, string(early))
}

func (p *Proxy) dial(ctx context.Context, host string) (net.Conn, error) {
	address, err := netip.ParseAddrPort(host)
	if err != nil {
		return nil, fmt.Errorf("%s is not the address of a pod", host)
	}
	target, err := p.Routes.Lookup(ctx, address)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", target)
	if err != nil {
		return nil, fmt.Errorf("the server registered for %s does not answer: %w", address, err)
	}
	return conn, nil
}

// refuse answers with the reason in the status line, because that is the part of the answer that the API server repeats
// in its own error.
func refuse(conn net.Conn, code int, reason string) {
	reason = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, reason)
	fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", code, reason)
}

// closeWith closes the connection when the context ends, or when the function it returns is called.
func closeWith(ctx context.Context, conn net.Conn) func() {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return func() {
		stop()
		_ = conn.Close()
	}
}

// join copies both ways until both sides are done or one is closed; early is what the client sent along with its request.
func join(client, server net.Conn, early string) {
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(server, io.MultiReader(strings.NewReader(early), client))
		closeWrite(server)
	})
	both.Go(func() {
		_, _ = io.Copy(client, server)
		closeWrite(client)
	})
	both.Wait()
}

func closeWrite(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}
