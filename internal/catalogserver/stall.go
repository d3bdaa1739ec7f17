package catalogserver

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"
)

// stallTime is how long a client may take no message of a stream that it has asked for, before its connection is closed. Otherwise it
// could keep contents alive that are served no more, one after the other.
const stallTime = 2 * time.Minute

// limitStalls closes the connections of clients that do not read what they have asked for.
func limitStalls(limit time.Duration) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		caller, _ := peer.FromContext(stream.Context())
		if caller == nil {
			return handler(server, stream)
		}
		conn, ok := caller.AuthInfo.(connection)
		if !ok {
			return handler(server, stream)
		}
		return handler(server, &limitedStream{ServerStream: stream, limit: limit, conn: conn})
	}
}

// limitedStream bounds the time of each message.
type limitedStream struct {
	grpc.ServerStream
	limit time.Duration
	conn  net.Conn
}

// SendMsg waits until the client has room for the message, up to the limit. A blocked SendMsg ends when its connection does.
func (s *limitedStream) SendMsg(message any) error {
	timer := time.AfterFunc(s.limit, func() { _ = s.conn.Close() })
	defer timer.Stop()
	return s.ServerStream.SendMsg(message)
}

// plaintext are credentials that protect nothing and let the streams of a connection know it.
type plaintext struct{}

// connection is what streams know of their connection.
type connection struct {
	credentials.CommonAuthInfo
	net.Conn
}

// AuthType implements credentials.AuthInfo.
func (connection) AuthType() string { return "insecure" }

// ServerHandshake does nothing.
func (plaintext) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return conn, connection{credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity}, conn}, nil
}

// ClientHandshake is not for servers.
func (plaintext) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return insecure.NewCredentials().ClientHandshake(ctx, authority, conn)
}

// Info says that nothing is protected.
func (plaintext) Info() credentials.ProtocolInfo { return insecure.NewCredentials().Info() }

// Clone returns the same.
func (plaintext) Clone() credentials.TransportCredentials { return plaintext{} }

// OverrideServerName does nothing.
func (plaintext) OverrideServerName(string) error { return nil }
