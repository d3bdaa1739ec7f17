package catalogserver

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/api/registry"
)

// What one client may ask of a gRPC server. The size of an answer is not bounded: a bundle is as large as it is.
const (
	maxRequestBytes = 256 << 10
	maxHeaderBytes  = 16 << 10
	maxStreams      = 100 // at once, on one connection
	handshakeTime   = 10 * time.Second
	idlePing        = 2 * time.Minute // after so much silence the client is asked whether it is there
	pingTime        = 20 * time.Second
	idleConnection  = 5 * time.Minute // after so much time without a call a connection makes room for others; clients connect again by themselves
)

// GRPCOptions are what several servers of one process differ in, or share.
type GRPCOptions struct {
	// Work is shared by the servers of a process; nil for no bound.
	Work Work
	// Admit returns why a client may not read what is served here, as a status; nil admits all. It gets the context of the call.
	Admit func(ctx context.Context) error

	stall time.Duration
}

// NewGRPC is a server of everything that gRPC clients ask: the registry, its experimental part, health and reflection. It listens
// nowhere yet.
func NewGRPC(source Source, health *Health, log *slog.Logger, o GRPCOptions) *grpc.Server {
	bounds := &bounds{share: newShare(o.Work), waiters: &waiters{}, stall: cmp.Or(o.stall, stallTime)}
	admitted := admission(o.Admit)
	s := grpc.NewServer(
		grpc.Creds(plaintext{insecure.NewCredentials()}),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.MaxRecvMsgSize(maxRequestBytes),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.ConnectionTimeout(handshakeTime),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: idlePing, Timeout: pingTime, MaxConnectionIdle: idleConnection}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			start := time.Now()
			answer, err := handler(ctx, request)
			logCall(ctx, log, info.FullMethod, start, err)
			return answer, err
		}, admitted.unary, bounds.unary),
		grpc.ChainStreamInterceptor(func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			start := time.Now()
			err := handler(server, stream)
			logCall(stream.Context(), log, info.FullMethod, start, err)
			return err
		}, admitted.stream, bounds.stream),
	)
	r := router{source, health}
	registry.RegisterRegistryServer(s, &registryServer{router: r})
	registry.RegisterExperimentalRegistryServer(s, &experimentalServer{router: r})
	healthpb.RegisterHealthServer(s, health)
	reflection.Register(s)
	return s
}

// admission refuses clients. Probes are answered to all.
type admission func(context.Context) error

func (a admission) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if a != nil && !free(info.FullMethod) {
		if err := a(ctx); err != nil {
			return nil, err
		}
	}
	return handler(ctx, request)
}

func (a admission) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if a != nil && !free(info.FullMethod) {
		if err := a(stream.Context()); err != nil {
			return err
		}
	}
	return handler(server, stream)
}

// logCall writes a line about what went wrong here, which no client can mend; about other calls only when asked to.
func logCall(ctx context.Context, log *slog.Logger, method string, start time.Time, err error) {
	level := slog.LevelDebug
	if status.Code(err) == codes.Internal {
		level = slog.LevelError
	}
	if !log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("method", method), slog.String("code", status.Code(err).String()), slog.Duration("took", time.Since(start))}
	if err != nil {
		attrs = append(attrs, slog.String("error", status.Convert(err).Message()))
	}
	log.LogAttrs(ctx, level, "call", attrs...)
}
