package catalog

import (
	"context"
	"sync"
)

// maxAhead is how many documents may be decoded before an earlier one is, and
// aheadDocuments how many of the largest allowed size.
const (
	maxAhead       = 256
	aheadDocuments = 2
)

// ahead bounds the documents that are between the file and the spool, by number
// and by bytes. They enter and leave in the same order.
type ahead struct {
	mu    sync.Mutex
	sizes []int // of those that are in, the oldest first
	bytes int
	most  int
	room  chan struct{} // gets an element when one leaves
}

func newAhead(documentBytes int) *ahead {
	return &ahead{most: aheadDocuments * documentBytes, room: make(chan struct{}, 1)}
}

// enter waits until there is room for a document, and reports whether it got
// in before ctx ended. One alone always has room.
func (a *ahead) enter(ctx context.Context, size int) bool {
	for !a.tryEnter(size) {
		select {
		case <-a.room:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (a *ahead) tryEnter(size int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.sizes) == maxAhead || len(a.sizes) > 0 && a.bytes+size > a.most {
		return false
	}
	a.sizes = append(a.sizes, size)
	a.bytes += size
	return true
}

// leave makes room: the oldest is in the spool.
func (a *ahead) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bytes -= a.sizes[0]
	a.sizes = a.sizes[1:]
	select {
	case a.room <- struct{}{}:
	default:
	}
}
