package devcluster

import (
	"bufio"
	"bytes"
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

// tunnelProxy is the CONNECT proxy.
type tunnelProxy struct {
	Routes *routeTable
}

// Serve accepts connections until the listener is closed, and then ends those that are open.
func (p *tunnelProxy) Serve(listener net.Listener) {
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

func (p *tunnelProxy) handle(ctx context.Context, client net.Conn) {
	defer closeWith(ctx, client)()

	_ = client.SetDeadline(time.Now().Add(requestTimeout)) // fails only on a closed connection, and then so does what follows
	reader := bufio.NewReader(io.LimitReader(client, maxRequest))
	request, err := http.ReadRequest(reader)
	if err != nil {
		refuseConnect(client, http.StatusBadRequest, "not an HTTP request")
		return
	}
	if request.Method != http.MethodConnect {
		refuseConnect(client, http.StatusMethodNotAllowed, "only CONNECT is served here")
		return
	}
	server, err := p.dial(ctx, request.Host)
	if err != nil {
		refuseConnect(client, http.StatusBadGateway, err.Error())
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
	// Copy both ways until both sides are done or one is closed; early is what the client sent along with its request.
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(server, io.MultiReader(bytes.NewReader(early), client))
		closeWrite(server)
	})
	both.Go(func() {
		_, _ = io.Copy(client, server)
		closeWrite(client)
	})
	both.Wait()
}

func (p *tunnelProxy) dial(ctx context.Context, host string) (net.Conn, error) {
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

// refuseConnect answers with the reason in the status line, because that is the part of the answer that the API server repeats
// in its own error.
func refuseConnect(conn net.Conn, code int, reason string) {
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

func closeWrite(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}
