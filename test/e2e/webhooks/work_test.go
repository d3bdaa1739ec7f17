package webhooks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// work is what somebody does again and again, and how it goes.
type work struct {
	w    *world
	what string
	stop func()

	mu       sync.Mutex
	times    int
	failures []string
}

// pause is between two times that work is done. Each of them is some TLS handshakes with the API server and the webhooks, so that by day the work
// would take more processor time than what the tests are about.
func pause() time.Duration { return time.Duration(sweep.Of(100, 100, 30)) * time.Millisecond }

// busy does something again and again until the work is over.
func (w *world) busy(what string, do func(ctx context.Context) error) *work {
	k := &work{w: w, what: what}
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	var doing sync.WaitGroup
	doing.Go(func() {
		for ctx.Err() == nil {
			k.note(do(context.WithoutCancel(ctx)))
			time.Sleep(pause())
		}
	})
	k.stop = sync.OnceFunc(func() {
		cancel()
		doing.Wait()
	})
	w.Cleanup(k.stop)
	return k
}

func (k *work) note(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.times++; err != nil {
		k.failures = append(k.failures, fmt.Sprintf("%s: %v", time.Now().Format("05.000"), err))
	}
}

// goesOn waits until the work was done some more times.
func (k *work) goesOn() {
	k.w.Helper()
	so := func() int {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.times
	}
	before := so()
	must.Eventually(k.w, k.what+" to go on", func() error {
		if done := so() - before; done < 10 {
			return fmt.Errorf("done %d times", done)
		}
		return nil
	})
}

// neverFailed ends the work and complains about what failed.
func (k *work) neverFailed() {
	k.w.Helper()
	k.stop()
	k.w.Logf("%s: %d times", k.what, k.times)
	if len(k.failures) > 0 {
		k.w.Errorf("%s: %d of %d times it failed: %q", k.what, len(k.failures), k.times, k.failures[:min(5, len(k.failures))])
	}
}

// works are those that go on all the time while something else happens.
type works []*work

// inUse waits until things are validated, mutated and converted by a server, and goes on using them.
func (w *world) inUse(s *server) works {
	w.Helper()
	must.Eventually(w, "things to be refused", func() error { return w.judged(w.Namespace) })
	w.Make(w.thing(w.Namespace, "v1", "used", 7))
	w.conversions(s, "used")
	must.Eventually(w, "things to be mutated", func() error { return w.uses(w.Context(), "used") })
	return works{
		w.busy("using things", func(ctx context.Context) error { return w.uses(ctx, "used") }),
		w.busy("being refused", func(context.Context) error { return w.judged(w.Namespace) }),
	}
}

// goOn waits until each was done some more times.
func (all works) goOn() {
	for _, k := range all {
		k.goesOn()
	}
}

// neverFailed ends them and complains about what failed.
func (all works) neverFailed() {
	for _, k := range all {
		k.neverFailed()
	}
}
