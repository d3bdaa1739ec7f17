package catalogserver

import (
	"context"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

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
	each map[any]int
}

func (w *waiters) enter(conn any) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == maxWaiting || w.each[conn] == maxWaitingConnection {
		return false
	}
	if w.each == nil {
		w.each = map[any]int{}
	}
	w.all++
	w.each[conn]++
	return true
}

func (w *waiters) leave(conn any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all--
	if w.each[conn]--; w.each[conn] == 0 {
		delete(w.each, conn)
	}
}

// join is enter for a call, and returns what ends it. A call that would wait beside too many others is refused.
func (w *waiters) join(ctx context.Context, method string) (leave func(), err error) {
	var conn any
	if l := linkOf(ctx); l != nil {
		conn = l
	}
	if !w.enter(conn) {
		return nil, status.Errorf(codes.ResourceExhausted,
			"%s: too many calls wait already, of which one connection may have %d and all clients %d; use one for each client, or ask again and again instead",
			method, maxWaitingConnection, maxWaiting)
	}
	return func() { w.leave(conn) }, nil
}
