package catalogserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime/debug"
	runtimepprof "runtime/pprof"
	"sync"
	"time"

	"fairlead.dev/fairlead/catalog"

	"golang.org/x/net/netutil"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
)

// Origin is where the content of a catalog comes from.
type Origin interface {
	// String names it for people.
	String() string
	// State is a text that changes when the content may have changed. It is cheaper to have than the content.
	State(ctx context.Context) (string, error)
	// Read reads the content.
	Read(ctx context.Context) (*catalog.Index, error)
}

// Catalog is a catalog to serve.
type Catalog struct {
	Name   string
	Origin Origin
	// Poll is how often to ask the Origin for its State; 0 means only when Reload says so.
	Poll time.Duration
}

// Config says what Run serves, and where. The addresses are those of net.Listen; nothing listens at an empty one.
type Config struct {
	GRPC, HTTP, Pprof string
	// StartupProfile takes a CPU profile until the server is ready, and serves it at Pprof.
	StartupProfile bool
	Catalogs       []Catalog
	// Reload makes Run read everything again.
	Reload <-chan os.Signal
	Log    *slog.Logger
	// Listening, when set, is called with the addresses before anything is read.
	Listening func(Addresses)
}

// Addresses are where a server listens; nil where it does not.
type Addresses struct{ GRPC, HTTP, Pprof net.Addr }

// How many clients there may be at once, and how long those that are being answered are waited for in the end.
const (
	maxConnections = 1024
	stopTime       = 10 * time.Second
)

// Run serves catalogs until ctx ends. It listens at once, so that a busy port is told before anything is read, and is healthy as soon as
// all catalogs were read. A catalog that cannot be read then ends it; later, the last good content keeps being served.
func Run(ctx context.Context, cfg Config) error {
	s := &server{cfg: cfg, set: &Set{}, health: NewHealth()}
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error {
		<-running.Done()
		s.stop()
		return nil
	})
	group.Go(func() error {
		if err := s.listen(group); err != nil {
			return err
		}
		// Read all catalogs.
		begin := time.Now()
		var watchers []*watcher
		for _, c := range s.cfg.Catalogs {
			w := &watcher{set: s.set, catalog: c, log: s.cfg.Log}
			// Read the catalog for the first time.
			state, err := w.catalog.Origin.State(running)
			if err != nil {
				return fmt.Errorf("read catalog %s from %s: %w", w.catalog.Name, w.catalog.Origin, err)
			}
			index, err := Read(running, w.catalog, w.log)
			if err != nil {
				return err
			}
			w.state = state
			w.set.Publish(w.catalog.Name, index)
			watchers = append(watchers, w)
		}
		debug.FreeOSMemory() // what reading took is not needed again soon
		s.profile.stop()
		s.health.Set(true)
		s.cfg.Log.Info("ready", "catalogs", len(watchers), "took", time.Since(begin).Round(time.Millisecond))
		// Read catalogs again when they have changed, until ctx ends.
		var all sync.WaitGroup
		asked := make([]chan struct{}, len(watchers))
		for i, w := range watchers {
			asked[i] = make(chan struct{}, 1)
			all.Go(func() { w.run(running, asked[i]) })
		}
		for running.Err() == nil {
			select {
			case <-running.Done():
			case <-cfg.Reload:
				for _, a := range asked {
					select {
					case a <- struct{}{}:
					default: // it will look anyway
					}
				}
			}
		}
		all.Wait()
		return nil
	})
	if err := group.Wait(); ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	return nil
}

// server is a run.
type server struct {
	cfg     Config
	set     *Set
	health  *Health
	profile *startupProfile

	mu      sync.Mutex
	stops   []func(context.Context) // end what serves
	stopped bool
}

// listen begins to listen everywhere.
func (s *server) listen(group *errgroup.Group) error {
	calls, web := NewGRPC(s.set, s.health, s.cfg.Log, GRPCOptions{}), NewHTTP(s.set, s.health, s.cfg.Log)
	if s.cfg.Pprof != "" && s.cfg.StartupProfile {
		p := &startupProfile{running: true}
		if p.err = runtimepprof.StartCPUProfile(&p.content); p.err != nil {
			p.running = false
		}
		s.profile = p
	}
	// A server of profiles of this process.
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.Handle("/debug/pprof/startup/cpu", s.profile)
	profiles := &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaderBytes}
	var at Addresses
	for _, l := range []struct {
		what, address string
		at            *net.Addr
		serve         func(net.Listener) error
		stop          func(context.Context)
	}{
		{"gRPC", s.cfg.GRPC, &at.GRPC, calls.Serve, func(ctx context.Context) {
			end := context.AfterFunc(ctx, calls.Stop)
			defer end()
			calls.GracefulStop()
		}},
		{"HTTP", s.cfg.HTTP, &at.HTTP, web.Serve, func(ctx context.Context) { stopHTTP(ctx, web) }},
		{"profiles", s.cfg.Pprof, &at.Pprof, profiles.Serve, func(ctx context.Context) { stopHTTP(ctx, profiles) }},
	} {
		if l.address == "" {
			continue
		}
		listener, err := net.Listen("tcp", l.address)
		if err != nil {
			return fmt.Errorf("serve %s: %w; choose another port, or stop what listens there", l.what, err)
		}
		*l.at = listener.Addr()
		// Remember what to do in the end, or do it when that has come already.
		s.mu.Lock()
		if s.stopped {
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			l.stop(ended)
		} else {
			s.stops = append(s.stops, l.stop)
		}
		s.mu.Unlock()
		group.Go(func() error {
			err := l.serve(Limit(listener))
			if err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, grpc.ErrServerStopped) {
				return fmt.Errorf("serve %s at %s: %w", l.what, listener.Addr(), err)
			}
			return nil
		})
		s.cfg.Log.Info("listening", "for", l.what, "address", listener.Addr().String())
	}
	if s.cfg.Listening != nil {
		s.cfg.Listening(at)
	}
	return nil
}

// Limit lets a server have no more than so many clients at once; others wait until one goes.
func Limit(l net.Listener) net.Listener { return netutil.LimitListener(l, maxConnections) }

// stop lets clients finish what they have begun, if that does not take too long.
func (s *server) stop() {
	s.mu.Lock()
	stops := s.stops
	s.stopped = true
	s.mu.Unlock()
	s.health.Stop()
	s.profile.stop()
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	var all sync.WaitGroup
	for _, stop := range stops {
		all.Go(func() { stop(ctx) })
	}
	all.Wait()
}

func stopHTTP(ctx context.Context, s *http.Server) {
	if s.Shutdown(ctx) != nil {
		_ = s.Close() // nothing is left to be told
	}
}

// TerminationLog is the file from which a cluster reads why a container ended.
const TerminationLog = "/dev/termination-log"

// Terminated writes to a file why a server failed. TerminationLog itself is never made where it does not exist: there is no cluster then.
func Terminated(path string, reason error, log *slog.Logger) {
	if path == "" {
		return
	}
	flags := os.O_WRONLY | os.O_TRUNC
	if path != TerminationLog {
		flags |= os.O_CREATE
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if path == TerminationLog && os.IsNotExist(err) {
		return
	}
	if err == nil {
		_, err = file.WriteString(reason.Error() + "\n")
		_ = file.Close() // what was written counts
	}
	if err != nil {
		log.Warn("cannot write the termination log", "error", err)
	}
}
