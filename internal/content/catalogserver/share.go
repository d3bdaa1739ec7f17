package catalogserver

import (
	"context"
	"net"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// What the clients of one server may take, beside what they wait for. A call that finds no room waits for a while, so that a client that
// asks for much gets all of it, later.
const (
	maxCalls     = 128              // whose answers are made or not written yet, in all
	maxCallsPeer = 16               // for clients at one address
	roomTime     = 10 * time.Second // how long a call waits for room
	largeMessage = 1 << 20          // from so many bytes on a message counts
	maxLarge     = 32 << 20         // of large messages that wait for their readers
	maxLargePeer = 16 << 20         // for clients at one address; a larger message counts as so many bytes
	maxBuilt     = 4                // large messages of streams that wait for room themselves
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
	built *semaphore.Weighted
	wait  time.Duration

	mu    sync.Mutex
	calls int
	peers map[string]*peerShare
	room  chan struct{} // closed when a call ends
}

// peerShare is what the clients at one address take. It exists while they have calls.
type peerShare struct {
	calls int
	large *semaphore.Weighted
}

func newShare(work Work) *share {
	return &share{work: work, large: semaphore.NewWeighted(maxLarge), built: semaphore.NewWeighted(maxBuilt), wait: roomTime,
		peers: map[string]*peerShare{}, room: make(chan struct{})}
}

// free reports whether a method costs so little that it is always answered: probes and what lists methods.
func free(method string) bool {
	return strings.HasPrefix(method, "/grpc.reflection.") || strings.HasPrefix(method, "/grpc.health.v1.")
}

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
		s.mu.Lock()
		p, room := s.peers[from], s.room
		if s.calls < maxCalls && (p == nil || p.calls < maxCallsPeer) {
			if p == nil {
				p = &peerShare{large: semaphore.NewWeighted(maxLargePeer)}
				s.peers[from] = p
			}
			s.calls++
			p.calls++
			s.mu.Unlock()
			return func() { s.leave(from) }, nil
		}
		s.mu.Unlock()
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

func (s *share) leave(from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls--
	p := s.peers[from]
	if p.calls--; p.calls == 0 {
		delete(s.peers, from)
	}
	close(s.room)
	s.room = make(chan struct{})
}

// roomOf is the room for large messages of a client that has entered.
func (s *share) roomOf(from string) *room {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &room{own: s.peers[from].large, all: s.large}
}

// room is what the large messages of a client take, of its own part and of that of all clients.
type room struct{ own, all *semaphore.Weighted }

// weight is what a message takes of the room; 0 for a small one.
func weight(size int) int64 {
	if size < largeMessage {
		return 0
	}
	return int64(min(size, maxLargePeer))
}

func (r *room) try(n int64) bool {
	if n == 0 {
		return true
	}
	if !r.own.TryAcquire(n) {
		return false
	}
	if !r.all.TryAcquire(n) {
		r.own.Release(n)
		return false
	}
	return true
}

func (r *room) acquire(ctx context.Context, n int64) error {
	err := r.own.Acquire(ctx, n)
	if err == nil {
		if err = r.all.Acquire(ctx, n); err == nil {
			return nil
		}
		r.own.Release(n)
	}
	return status.FromContextError(err).Err()
}

func (r *room) release(n int64) {
	if n > 0 {
		r.own.Release(n)
		r.all.Release(n)
	}
}

// Calls that wait for something keep their connection from being idle, for as long as the client likes. Those who are refused a call may
// still ask for the state of the server, as probes do; their connections make room when nothing is asked.
const (
	maxWaiting           = maxConnections / 2 // in all
	maxWaitingConnection = 8                  // of one connection
)

// waiters count the calls that wait, by their connections.
type waiters struct {
	mu   sync.Mutex
	all  int
	each map[*link]int // nil stands for those that are not known
}

// join counts a call of a connection, and returns what ends it. A call that would wait beside too many others is refused.
func (w *waiters) join(conn *link, method string) (leave func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == maxWaiting || w.each[conn] == maxWaitingConnection {
		return nil, status.Errorf(codes.ResourceExhausted,
			"%s: too many calls wait already, of which one connection may have %d and all clients %d; use one for each client, or ask again and again instead",
			method, maxWaitingConnection, maxWaiting)
	}
	if w.each == nil {
		w.each = map[*link]int{}
	}
	w.all++
	w.each[conn]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all--
		if w.each[conn]--; w.each[conn] == 0 {
			delete(w.each, conn)
		}
	}, nil
}
