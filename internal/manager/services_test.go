package manager

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/fairlead/test/must"

	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

// lasting is a server that says when it was told to end, and ends a while later.
func lasting(ended *time.Time, takes time.Duration, fails error) ctrlmanager.Runnable {
	return ctrlmanager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		*ended = time.Now()
		time.Sleep(takes)
		return fails
	})
}

// TestServersOutlastControllers: those end at once, servers after the drain, and clients are led elsewhere in between.
func TestServersOutlastControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var early, late, led, ledUntil time.Time
		s := newServices(podDrain)
		s.Add(lasting(&late, time.Second, nil))
		s.all = append(s.all, service{Runnable: lasting(&early, 0, nil), leaves: true})
		s.giveWay = func(ctx context.Context) {
			led = time.Now()
			<-ctx.Done()
			ledUntil = time.Now()
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Start(ctx) }()
		time.Sleep(time.Minute)
		told := time.Now()
		stop()
		must.NoErrorf(t, <-ended, "the controllers need not wait for the servers")
		must.Equal(t, "how long the controllers wait", time.Since(told), 0)
		must.NoError(t, s.drained(ctx, told))
		must.Equal(t, "when it is over", time.Since(told), podDrain+time.Second)
		for what, got := range map[string]time.Duration{"one that leaves": early.Sub(told), "clients are led elsewhere": led.Sub(told)} {
			must.Equal(t, what, got, 0)
		}
		for what, got := range map[string]time.Duration{"the others": late.Sub(told), "clients are led elsewhere until": ledUntil.Sub(told)} {
			must.Equal(t, what, got, podDrain)
		}
	})
}

// TestAServerThatFailsEndsTheManager, without a drain; what fails at the end is told as well, and one that does not end is not waited for without end.
func TestAServerThatFailsEndsTheManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended time.Time
		s := newServices(podDrain)
		s.Add(ctrlmanager.RunnableFunc(func(context.Context) error { return errors.New("the port is gone") }))
		s.Add(lasting(&ended, 0, errors.New("it ends badly")))
		began := time.Now()
		must.Fail(t, "run servers", s.Start(t.Context()), "the port is gone")
		must.Fail(t, "end servers", s.drained(t.Context(), began), "it ends badly")
		must.Equal(t, "how long that takes", time.Since(began), 0)
	})
	synctest.Test(t, func(t *testing.T) {
		var ended time.Time
		s := newServices(0)
		s.Add(lasting(&ended, time.Hour, nil))
		ctx, stop := context.WithCancel(t.Context())
		stop()
		must.NoError(t, s.Start(ctx))
		told := time.Now()
		err := s.drained(ctx, told)
		if must.Fail(t, "end servers", err, "requests are still under way 25s"); !errors.Is(err, context.DeadlineExceeded) || time.Since(told) != shutdownTimeout {
			t.Errorf("after %s: %v", time.Since(told), err)
		}
		time.Sleep(time.Hour) // until the server has ended
	})
}

// TestProbes: what is not ready is named, and a manager that was told to stop is not ready, but lives.
func TestProbes(t *testing.T) {
	h := must.Value(openHealth(t.Context(), "127.0.0.1:0"))(t)
	broken := errors.New("the caches are empty")
	h.ready["caches"] = func(*http.Request) error { return broken }
	defer h.serve()()
	base := "http://" + h.listener.Addr().String()
	answers := func(path string, code int, text string) {
		t.Helper()
		got, _, body := fetch(t, http.DefaultClient, base+path)
		if got != code || !strings.Contains(body, text) {
			t.Errorf("%s: %d %q, want %d with %q", path, got, body, code, text)
		}
	}
	answers("/healthz", http.StatusOK, "ok")
	answers("/readyz", http.StatusInternalServerError, "caches failed")
	broken = nil
	answers("/readyz", http.StatusOK, "ok")
	answers("/readyz/caches", http.StatusOK, "ok")
	h.leaving.Store(true)
	answers("/readyz", http.StatusInternalServerError, "leaving failed")
	answers("/healthz", http.StatusOK, "ok")
	_, err := openHealth(t.Context(), h.listener.Addr().String())
	must.Fail(t, "listen at a busy port", err, "choose another address, or 0 for none")
	none := must.Value(openHealth(t.Context(), ""))(t)
	none.serve()()
}
