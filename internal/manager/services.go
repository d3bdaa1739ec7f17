package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// podDrain is how long the servers of a manager in a pod take new requests after it was told to stop: until all nodes and API servers know that its
// Services lead elsewhere, which takes about a second.
const podDrain = 5 * time.Second

// drainTime is how long servers go on after the manager was told to stop. Outside of a pod no Service leads here.
func (o Options) drainTime() time.Duration {
	if o.Drain == 0 && os.Getenv(PodIPVariable) != "" {
		return podDrain
	}
	return o.Drain
}

// services are the servers of a manager. They outlast its controllers: those end, and the lease is given back, as soon as the manager is told to stop, and
// clients go on being answered until none come any more.
type services struct {
	everyManager
	drain time.Duration
	all   []service
	// giveWay has clients led elsewhere during the drain, after the controllers have ended; nil for none.
	giveWay func(context.Context)

	running sync.WaitGroup
	failed  chan error
	serving context.Context // ends with the drain
	end     context.CancelFunc
}

// service is one of them.
type service struct {
	manager.Runnable
	// leaves is for one that is told at once, because it has clients led elsewhere by itself before it ends.
	leaves bool
}

func newServices(drain time.Duration) *services {
	s := &services{drain: drain}
	s.serving, s.end = context.WithCancel(context.Background())
	return s
}

// Add takes one more, before Start. It is for what managers add themselves to.
func (s *services) Add(r manager.Runnable) { s.all = append(s.all, service{Runnable: r}) }

// Start runs all, until the context ends or one fails.
func (s *services) Start(ctx context.Context) error {
	s.failed = make(chan error, len(s.all))
	for _, one := range s.all {
		until := s.serving
		if one.leaves {
			until = ctx
		}
		s.running.Go(func() {
			if err := one.Start(until); err != nil {
				s.failed <- err
			}
		})
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.failed:
		return err
	}
}

// drained ends all, after the drain when the context has ended and none has failed, and waits until they have completed what was under way.
func (s *services) drained(ctx context.Context, told time.Time) error {
	defer s.end()
	if left := s.drain - time.Since(told); ctx.Err() != nil && left > 0 {
		if s.giveWay != nil {
			s.running.Go(func() { s.giveWay(s.serving) })
		}
		time.Sleep(left)
	}
	s.end()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.running.Wait()
	}()
	left := time.NewTimer(shutdownTimeout - time.Since(told))
	defer left.Stop()
	select {
	case <-ended:
	case <-left.C:
		return fmt.Errorf("stop the servers: requests are still under way %s after the manager was told to stop: %w", shutdownTimeout, context.DeadlineExceeded)
	}
	var err error
	for {
		select {
		case one := <-s.failed:
			err = errors.Join(err, one)
		default:
			return err
		}
	}
}

// health answers the probes of the kubelet.
type health struct {
	listener net.Listener // nil for not at all
	leaving  atomic.Bool
	ready    map[string]healthz.Checker
}

// openHealth listens, so that a busy port is told before anything else.
func openHealth(ctx context.Context, address string) (*health, error) {
	h := &health{ready: map[string]healthz.Checker{}}
	h.ready["leaving"] = func(*http.Request) error {
		if h.leaving.Load() {
			return errors.New("this manager was told to stop")
		}
		return nil
	}
	if address = cmp.Or(address, noAddress); address == noAddress {
		return h, nil
	}
	var err error
	if h.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address); err != nil {
		return nil, fmt.Errorf("answer probes: %w; choose another address, or 0 for none", err)
	}
	return h, nil
}

// serve answers until the returned function is called.
func (h *health) serve() (stop func()) {
	if h.listener == nil {
		return func() {}
	}
	mux := http.NewServeMux()
	for path, checks := range map[string]map[string]healthz.Checker{"/healthz": {"ping": healthz.Ping}, "/readyz": h.ready} {
		handler := http.StripPrefix(path, &healthz.Handler{Checks: checks})
		mux.Handle(path, handler)
		mux.Handle(path+"/", handler)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: probeTime, IdleTimeout: time.Minute}
	go func() { _ = server.Serve(h.listener) }() // until it is closed
	return func() { _ = server.Close() }
}

// probeTime is how long a probe may take to say what it asks.
const probeTime = 10 * time.Second
