package catalogserver

import (
	"context"
	"net"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// What the clients of one server may take, beside what they wait for. A call that finds no room waits for a while, so that a client that
// asks for much gets all of it, later.
const (
	maxCalls     = 128              // answered at once, in all
	maxCallsPeer = 16               // for clients at one address
	roomTime     = 10 * time.Second // how long a call waits for room
	largeMessage = 1 << 20          // from so many bytes on a message counts
	maxLarge     = 32 << 20         // of large messages that wait for their readers
)

// Work is the processor time that calls may take of a process, shared by its servers: so many answers are made at once, and the time that a
// client takes to read one does not count.
type Work chan struct{}

// NewWork lets calls use half of the processors.
func NewWork() Work { return make(Work, max(1, runtime.GOMAXPROCS(0)/2)) }

func (w Work) begin(ctx context.Context) error {
	if w == nil {
		return nil
	}
	select {
	case w <- struct{}{}:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

func (w Work) end() {
	if w != nil {
		<-w
	}
}

// share is what the clients of a server take now.
type share struct {
	work  Work
	large *semaphore.Weighted
	wait  time.Duration

	mu    sync.Mutex
	calls int
	peers map[string]int
	room  chan struct{} // closed when a call ends
}

func newShare(work Work) *share {
	return &share{work: work, large: semaphore.NewWeighted(maxLarge), wait: roomTime, peers: map[string]int{}, room: make(chan struct{})}
}

// free reports whether a method costs so little that it is always answered: probes and what lists methods.
func free(method string) bool { return waits(method) || strings.HasPrefix(method, "/grpc.health.v1.") }

// PeerOf is the address of the client of a call, without its port.
func PeerOf(ctx context.Context) string {
	caller, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	host, _, err := net.SplitHostPort(caller.Addr.String())
	if err != nil {
		return caller.Addr.String()
	}
	return host
}

// enter waits for room for a call of a client.
func (s *share) enter(ctx context.Context) (leave func(), err error) {
	from := PeerOf(ctx)
	timeout := time.NewTimer(s.wait)
	defer timeout.Stop()
	for {
		room, ok := s.tryEnter(from)
		if ok {
			return func() { s.leave(from) }, nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		case <-timeout.C:
			return nil, status.Errorf(codes.ResourceExhausted, "too many calls are being answered, of which one address may have %d and all clients %d; end some, or ask again later",
				maxCallsPeer, maxCalls)
		}
	}
}

func (s *share) tryEnter(from string) (room <-chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == maxCalls || s.peers[from] == maxCallsPeer {
		return s.room, false
	}
	s.calls++
	s.peers[from]++
	return nil, true
}

func (s *share) leave(from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls--
	if s.peers[from]--; s.peers[from] == 0 {
		delete(s.peers, from)
	}
	close(s.room)
	s.room = make(chan struct{})
}

// unary bounds calls with one answer.
func (s *share) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if free(info.FullMethod) {
		return handler(ctx, request)
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.work.begin(ctx); err != nil {
		return nil, err
	}
	defer s.work.end()
	return handler(ctx, request)
}

// stream bounds calls with many answers.
func (s *share) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if free(info.FullMethod) {
		return handler(server, stream)
	}
	leave, err := s.enter(stream.Context())
	if err != nil {
		return err
	}
	defer leave()
	worker := &workingStream{ServerStream: stream, share: s}
	if err := worker.begin(); err != nil {
		return err
	}
	defer worker.end()
	return handler(server, worker)
}

// workingStream takes processor time between its messages only.
type workingStream struct {
	grpc.ServerStream
	*share
	working bool
}

func (w *workingStream) begin() error {
	if err := w.work.begin(w.Context()); err != nil {
		return err
	}
	w.working = true
	return nil
}

func (w *workingStream) end() {
	if w.working {
		w.working = false
		w.work.end()
	}
}

// SendMsg lets others work until the client has taken the message.
func (w *workingStream) SendMsg(message any) error {
	w.end()
	if m, ok := message.(proto.Message); ok {
		if size := int64(min(proto.Size(m), maxLarge)); size >= largeMessage {
			if err := w.large.Acquire(w.Context(), size); err != nil {
				return status.FromContextError(err).Err()
			}
			defer w.large.Release(size)
		}
	}
	if err := w.ServerStream.SendMsg(message); err != nil {
		return err
	}
	return w.begin()
}

// RecvMsg lets others work until the client has asked.
func (w *workingStream) RecvMsg(message any) error {
	w.end()
	if err := w.ServerStream.RecvMsg(message); err != nil {
		return err
	}
	return w.begin()
}
