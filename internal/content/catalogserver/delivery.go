package catalogserver

import (
	"context"
	"sync"
	"time"
)

// delivery follows the messages of one call until they are on the wire. The gRPC library queues the answer of a unary call, and the first
// messages of a stream, without waiting for the client: a call that has returned may still have all of them in memory. So what a call takes
// of the shares of its client is released only when both its handler has returned and its messages are written, or the connection has ended.
type delivery struct {
	link  *link // nil where it is not known
	limit time.Duration
	large *room // of the client

	mu      sync.Mutex
	pending int   // messages that are not written yet
	held    int64 // bytes of large messages among them
	stall   *time.Timer
	lost    bool // the connection has ended
	ended   bool // the handler has returned
	leave   func()
	detach  func() bool // from the end of the connection
}

// deliver begins to follow a call. Leave is called once it takes nothing any more; large is what its large messages count for.
func deliver(ctx context.Context, limit time.Duration, large *room, leave func()) *delivery {
	d := &delivery{link: linkOf(ctx), limit: limit, large: large, leave: leave}
	if d.link != nil {
		d.detach = context.AfterFunc(d.link.ended, d.lose)
	}
	return d
}

// add counts a message that is about to be sent, for which so many bytes of the room for large messages are taken.
func (d *delivery) add(held int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost {
		d.large.release(held)
		return
	}
	d.held += held
	if d.pending++; d.pending > 1 || d.link == nil {
		return
	}
	if d.stall == nil {
		d.stall = time.AfterFunc(d.limit, func() { _ = d.link.Close() })
		return
	}
	d.stall.Reset(d.limit)
}

// written ends what a message takes. A blocked client has as much time for the next one.
func (d *delivery) written(held int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost {
		return
	}
	d.large.release(held)
	d.held -= held
	d.pending--
	if d.stall != nil {
		if d.pending == 0 {
			d.stall.Stop()
		} else {
			d.stall.Reset(d.limit)
		}
	}
	d.settle()
}

// finish is called when the handler has returned.
func (d *delivery) finish() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	d.settle()
}

// lose releases what the messages take of a connection that has ended: the library drops those that are queued.
func (d *delivery) lose() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost {
		return
	}
	d.lost = true
	d.large.release(d.held)
	d.held, d.pending = 0, 0
	if d.stall != nil {
		d.stall.Stop()
	}
	d.settle()
}

// settle leaves when nothing is left to do. The lock is held.
func (d *delivery) settle() {
	if !d.ended || d.pending > 0 || d.leave == nil {
		return
	}
	leave := d.leave
	d.leave = nil
	if d.detach != nil {
		d.detach()
	}
	leave()
}
