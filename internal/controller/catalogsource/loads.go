package catalogsource

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/catalogset"
)

// loads are the catalogs that are being read, each at most once. Finished, when set, is told of those that nobody waited for.
type loads struct {
	finished func(catalogset.Ref)

	mu      sync.Mutex
	running map[catalogset.Ref]*load
}

// load is one reading under way. Its outcome may be read once done is closed.
type load struct {
	spec   string
	cancel context.CancelFunc
	done   chan struct{}

	reading reading
	err     error
}

// of returns the load of a catalog as it is asked for now, or nil. One for what was asked for before is of no use any more.
func (l *loads) of(ref catalogset.Ref, spec string) *load {
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

// begin reads a catalog in the background.
func (l *loads) begin(ctx context.Context, ref catalogset.Ref, spec string, read func(context.Context) (reading, error)) *load {
	ctx, cancel := context.WithCancel(ctx)
	begun := &load{spec: spec, cancel: cancel, done: make(chan struct{})}
	l.mu.Lock()
	if l.running == nil {
		l.running = map[catalogset.Ref]*load{}
	}
	l.running[ref] = begun
	l.mu.Unlock()
	go func() {
		defer cancel()
		begun.reading, begun.err = read(ctx)
		close(begun.done)
		if l.finished != nil {
			l.finished(ref)
		}
	}()
	return begun
}

// end forgets a load; one that is still under way is ended.
func (l *loads) end(ref catalogset.Ref) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if running := l.running[ref]; running != nil {
		running.cancel()
		delete(l.running, ref)
	}
}

// wait tells whether the load is done after a short time.
func (l *load) wait(ctx context.Context, atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-l.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
