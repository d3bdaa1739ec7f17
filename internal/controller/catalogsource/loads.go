package catalogsource

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/fairlead/catalog"
)

// maxLoads is how many catalogs are being read at once. Most of that time is spent waiting for registries; indexes are built by fewer.
const maxLoads = 256

// loads are the catalogs that are being read, each at most once. Finished, when set, is called with those that no one waited for. Slots has
// room for those that may be read at once; nil is for any number.
type loads struct {
	finished func(catalog.Ref)
	slots    chan struct{}

	mu      sync.Mutex
	running map[catalog.Ref]*load
}

// load is one reading under way. Its outcome may be read once done is closed.
type load struct {
	spec    string
	secrets int // the sign of the Secrets before it began
	cancel  context.CancelFunc
	done    chan struct{}

	reading reading
	err     error

	mu      sync.Mutex
	ended   bool
	waiting int // how many wait for it
}

// of returns the load of a catalog as it is asked for now, or nil. One for what was asked for before is of no use any more.
func (l *loads) of(ref catalog.Ref, spec string) *load {
	l.mu.Lock()
	defer l.mu.Unlock()
	running := l.running[ref]
	if running != nil && running.spec != spec {
		running.cancel()
		delete(l.running, ref)
		return nil
	}
	return running
}

// begin reads a catalog in the background. Who begins it has to wait afterwards, and counts as waiting from now on: a load may end before it comes to that.
func (l *loads) begin(ctx context.Context, ref catalog.Ref, spec string, secrets int, read func(context.Context) (reading, error)) *load {
	ctx, cancel := context.WithCancel(ctx)
	begun := &load{spec: spec, secrets: secrets, cancel: cancel, done: make(chan struct{}), waiting: 1}
	l.mu.Lock()
	if l.running == nil {
		l.running = map[catalog.Ref]*load{}
	}
	l.running[ref] = begun
	l.mu.Unlock()
	go func() {
		defer cancel()
		if l.slots != nil {
			select { // wait until there is room for one more
			case l.slots <- struct{}{}:
			case <-ctx.Done():
				begun.err = context.Cause(ctx)
			}
		}
		if begun.err == nil {
			begun.reading, begun.err = read(ctx)
			if l.slots != nil {
				<-l.slots
			}
		}
		begun.mu.Lock()
		begun.ended = true
		close(begun.done)
		awaited := begun.waiting > 0
		begun.mu.Unlock()
		if !awaited && l.finished != nil {
			l.finished(ref)
		}
	}()
	return begun
}

// end forgets a load; one that is still under way is ended.
func (l *loads) end(ref catalog.Ref) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if running := l.running[ref]; running != nil {
		running.cancel()
		delete(l.running, ref)
	}
}

// wait reports whether the load is done after a short time. Where it is not, its end is reported later. Who begun it is counted already.
func (l *load) wait(ctx context.Context, atMost time.Duration, begun bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !begun {
		l.waiting++
	}
	if !l.ended && atMost > 0 {
		l.mu.Unlock()
		timer := time.NewTimer(atMost)
		select {
		case <-l.done:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		l.mu.Lock()
	}
	l.waiting--
	return l.ended
}
