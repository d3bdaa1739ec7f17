package grpccatalog

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"
)

// handshakeTime bounds how long a server may take to answer the beginning of a TLS connection. One that speaks no TLS may wait for more
// of what it does speak.
const handshakeTime = 3 * time.Second

// encryption opens connections: with TLS where the server has it. With authorities a server must prove who it is, and one without TLS is
// refused. Without, TLS keeps out those who only listen: a client that could pretend to be the server could pretend that it has no TLS.
type encryption struct {
	authorities *x509.CertPool
	dial        dialer
	profile     func() *tls.Config // may be nil, or return nil
}

// open connects to one of the addresses that the name of a server stands for.
func (e encryption) open(ctx context.Context, name, address string) (net.Conn, error) {
	conn, err := e.dial(ctx, address)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(name)
	if err != nil {
		host = name
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.profile != nil {
		if chosen := e.profile(); chosen != nil {
			c = chosen
		}
	}
	c.ServerName, c.NextProtos = host, []string{"h2"}
	c.RootCAs, c.InsecureSkipVerify = e.authorities, e.authorities == nil
	secure := tls.Client(conn, c)
	ctxHandshake, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	err = secure.HandshakeContext(ctxHandshake)
	if err == nil {
		return secure, nil
	}
	_ = conn.Close() // it is of no use any more
	if e.authorities != nil {
		return nil, fmt.Errorf("speak TLS, which is required because a CA bundle is given: %w", err)
	}
	// A server that was offered TLS, and knows nothing of it, answers in one of these ways.
	var header tls.RecordHeaderError
	speaksNoTLS := errors.As(err, &header) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, context.DeadlineExceeded)
	if ctx.Err() != nil || !speaksNoTLS {
		return nil, fmt.Errorf("speak TLS: %w", err)
	}
	return e.dial(ctx, address)
}

func dialTCP(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address)
}
