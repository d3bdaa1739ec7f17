package grpccatalog

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"

	"golang.org/x/net/http/httpproxy"
)

// dialer makes a connection to an address.
type dialer func(ctx context.Context, address string) (net.Conn, error)

// proxyFor is the proxy through which the environment wants a server to be reached, and nil for none.
func proxyFor(address string) (*url.URL, error) {
	proxy := cmp.Or(os.Getenv("GRPC_PROXY"), os.Getenv("grpc_proxy"))
	config := httpproxy.Config{HTTPSProxy: proxy, NoProxy: cmp.Or(os.Getenv("NO_PROXY"), os.Getenv("no_proxy"))}
	found, err := config.ProxyFunc()(&url.URL{Scheme: "https", Host: address})
	if err != nil {
		return nil, fmt.Errorf("read the variable GRPC_PROXY: %w", err)
	}
	return found, nil
}

// through connects by way of a proxy, which also finds out what the name of the server stands for.
func through(proxy *url.URL) dialer {
	return func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := dialTCP(ctx, net.JoinHostPort(proxy.Hostname(), cmp.Or(proxy.Port(), "80")))
		if err != nil {
			return nil, fmt.Errorf("connect to the proxy that GRPC_PROXY names: %w", err)
		}
		tunnel, err := connect(ctx, conn, proxy, address)
		if err != nil {
			_ = conn.Close() // it is of no use any more
			return nil, fmt.Errorf("connect through the proxy %s that GRPC_PROXY names: %w", proxy.Redacted(), err)
		}
		return tunnel, nil
	}
}

// connect asks a proxy for a connection to an address.
func connect(ctx context.Context, conn net.Conn, proxy *url.URL, address string) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	buffered := bufio.NewReader(conn)
	answer, err := http.ReadResponse(buffered, request)
	if err != nil {
		return nil, err
	}
	_ = answer.Body.Close() // a tunnel has no body
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", answer.Status)
	}
	return tunnel{Conn: conn, first: buffered}, nil
}

// tunnel is a connection of which a part may have been read together with the answer of the proxy.
type tunnel struct {
	net.Conn
	first *bufio.Reader
}

// Read reads what was read already first.
func (t tunnel) Read(p []byte) (int, error) { return t.first.Read(p) }
