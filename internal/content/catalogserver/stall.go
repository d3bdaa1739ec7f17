package catalogserver

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// stallTime is how long a client may take none of the messages that it has asked for, before its connection is closed. Otherwise it
// could keep contents alive that are served no more, one after the other.
const stallTime = 2 * time.Minute

// plaintext are credentials that protect nothing and give calls access to their connection.
type plaintext struct {
	credentials.TransportCredentials
}

// connection is what calls know of their connection.
type connection struct {
	credentials.CommonAuthInfo
	*link
}

// link is a connection whose end can be waited for.
type link struct {
	net.Conn
	ended context.Context
	end   context.CancelFunc
}

// Close ends the connection. A server closes each connection, also one that its client has ended.
func (l *link) Close() error {
	l.end()
	return l.Conn.Close()
}

// linkOf is the connection of a call; nil where that is not known.
func linkOf(ctx context.Context) *link {
	caller, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	known, _ := caller.AuthInfo.(connection)
	return known.link
}

// AuthType implements credentials.AuthInfo.
func (connection) AuthType() string { return "insecure" }

// ServerHandshake does nothing.
func (plaintext) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	l := &link{Conn: conn}
	l.ended, l.end = context.WithCancel(context.Background())
	return l, connection{credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity}, l}, nil
}

// Clone returns the same.
func (p plaintext) Clone() credentials.TransportCredentials { return p }
