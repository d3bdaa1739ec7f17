package catalogserver

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"
)

// maxBackoff bounds the time between two attempts at a catalog that cannot be read.
const maxBackoff = 5 * time.Minute

// watcher follows one catalog.
type watcher struct {
	set     *Set
	catalog Catalog
	log     *slog.Logger

	state   string    // of what is served, or of what could not be read
	pending string    // the state at the last look: what is being written is left alone until it holds still
	failed  int       // attempts in a row
	next    time.Time // of the next attempt after a failed one
}

func (w *watcher) run(ctx context.Context, asked <-chan struct{}) {
	var ticks <-chan time.Time
	if w.catalog.Poll > 0 {
		ticker := time.NewTicker(w.catalog.Poll)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
			w.look(ctx, true)
		case <-ticks:
			w.look(ctx, false)
		}
	}
}

// look reads the catalog again if its state is another and holds still, or if the last attempt failed some time ago, or when asked to.
func (w *watcher) look(ctx context.Context, asked bool) {
	due := w.failed > 0 && !time.Now().Before(w.next)
	state, err := w.catalog.Origin.State(ctx)
	if err != nil {
		if asked || due || w.failed == 0 {
			w.fail(ctx, err)
		}
		return
	}
	settled := state == w.pending
	w.pending = state
	if !asked && !due && (!settled || state == w.state) {
		return
	}
	// Publish the content of the state, unless it changed meanwhile: then it may be half of one and half of another.
	index, err := Read(ctx, w.catalog, w.log)
	if err != nil {
		if state != w.state {
			w.failed = 0
		}
		w.state = state
		w.fail(ctx, err)
		return
	}
	if after, err := w.catalog.Origin.State(ctx); err != nil || after != state {
		return
	}
	w.state, w.failed = state, 0
	if w.set.Publish(w.catalog.Name, index) {
		w.log.Info("serving new content", "catalog", w.catalog.Name, "digest", index.Digest())
	}
	debug.FreeOSMemory()
}

// fail says why the content stays as it is. The next attempt at the same state comes later and later.
func (w *watcher) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	w.next = time.Now().Add(min(w.catalog.Poll<<min(w.failed, 10), maxBackoff))
	w.failed++
	w.log.Error("cannot read the catalog; the last good content is served on", "catalog", w.catalog.Name, "error", err)
}
