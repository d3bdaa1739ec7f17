package devcluster

import (
	"sync"
	"time"
)

// leases counts the clients that need the cluster. Once it has been idle for long enough it is closed, and gives no more:
// deciding to stop and refusing new clients are one step, so that no one is given a cluster about to go.
type leases struct {
	mu      sync.Mutex
	held    int
	changed chan struct{}
	closed  bool
}

// take returns false when the cluster is about to stop.
func (l *leases) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.held++
	l.notify()
	return true
}

func (l *leases) giveBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held--
	l.notify()
}

func (l *leases) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

func (l *leases) notify() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// idle returns a channel that is closed when no lease was held for the whole of the timeout; never when that is 0.
func (l *leases) idle(timeout time.Duration) <-chan struct{} {
	if timeout == 0 {
		return nil
	}
	expired := make(chan struct{})
	go func() {
		for {
			select {
			case <-l.changed:
			case <-time.After(timeout):
				l.mu.Lock()
				closed := l.held == 0 // no one holds a lease, and no one will
				l.closed = closed
				l.mu.Unlock()
				if closed {
					close(expired)
					return
				}
			}
		}
	}()
	return expired
}
