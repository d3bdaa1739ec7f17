package catalogserver

import (
	"context"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// bounds are what the calls of a server may take, from their begin until their last message is on the wire.
type bounds struct {
	share   *share
	waiters *waiters
	stall   time.Duration
}

// unary bounds calls with one answer. Probes are always answered: what they get is small, and a connection has few of them.
func (b *bounds) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if free(info.FullMethod) {
		return handler(ctx, request)
	}
	leave, err := b.share.enter(ctx)
	if err != nil {
		return nil, err
	}
	large := b.share.roomOf(PeerOf(ctx))
	e := &encoder{delivery: deliver(ctx, b.stall, large, leave)}
	defer e.finish()
	// Answers are uncompressed, also where the client compresses what it sends: the time and the memory that it takes to compress would not count.
	if err := grpc.SetSendCompressor(ctx, encoding.Identity); err != nil {
		return nil, err
	}
	// An answer that finds no room is made again once there is some, so that only what is on its way is in memory.
	var held int64
	for {
		a, needs, err := b.attempt(ctx, e, held, func() (any, error) { return handler(ctx, request) })
		if a != nil {
			return a, nil
		}
		large.release(held)
		if err == nil {
			err = large.acquire(ctx, needs)
		}
		if err != nil {
			return nil, brief(err)
		}
		held = needs
	}
}

// attempt makes an answer for which room is held, and returns how much it needs if that is more than there is.
func (b *bounds) attempt(ctx context.Context, e *encoder, held int64, make func() (any, error)) (a any, needs int64, err error) {
	if err := b.share.work.begin(ctx); err != nil {
		return nil, 0, err
	}
	defer b.share.work.end()
	made, err := make()
	if err != nil {
		return nil, 0, err
	}
	m, ok := made.(proto.Message)
	if !ok {
		return nil, 0, status.Errorf(codes.Internal, "encode the answer: it is a %T and no message", made)
	}
	size := proto.Size(m)
	needs = weight(size)
	more := max(0, needs-held)
	if !e.large.try(more) {
		return nil, needs, nil
	}
	encoded, err := e.encode(m, size, held+more)
	if err != nil {
		e.large.release(more)
		return nil, 0, err
	}
	return encoded, 0, nil
}

// stream bounds calls with many answers.
func (b *bounds) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx := stream.Context()
	w := &boundedStream{ServerStream: stream, built: b.share.built}
	var large *room
	var leave func()
	var err error
	if free(info.FullMethod) {
		leave, err = b.waiters.join(linkOf(ctx), info.FullMethod)
		large = &room{own: b.share.large, all: b.share.large} // its messages are small
	} else if leave, err = b.share.enter(ctx); err == nil {
		large, w.work = b.share.roomOf(PeerOf(ctx)), b.share.work
	}
	if err != nil {
		return err
	}
	w.encoder = &encoder{delivery: deliver(ctx, b.stall, large, leave)}
	defer w.finish()
	if err := grpc.SetSendCompressor(ctx, encoding.Identity); err != nil {
		return err
	}
	if err := w.begin(); err != nil {
		return err
	}
	defer w.end()
	return brief(handler(server, w))
}

// A client of HTTP has to take so many bytes in so much time, again and again. A slow network can; one that only holds the connection open
// cannot.
const (
	progressBytes = 1 << 20
	progressTime  = time.Minute
)

// deadlineWriter closes the connection of a client that takes too little of its answer.
type deadlineWriter struct {
	http.ResponseWriter
	bytes int // since the deadline was set
	time  time.Duration
}

// extend gives the client time for the next bytes. Writers without deadlines are those of tests.
func (d *deadlineWriter) extend() {
	d.bytes = 0
	_ = http.NewResponseController(d.ResponseWriter).SetWriteDeadline(time.Now().Add(d.time))
}

// Write writes a part of the answer.
func (d *deadlineWriter) Write(p []byte) (int, error) {
	if d.bytes >= progressBytes {
		d.extend()
	}
	n, err := d.ResponseWriter.Write(p)
	d.bytes += n
	return n, err
}
