package catalogserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// fakeOrigin is an Origin whose content a test chooses.
type fakeOrigin struct {
	mu    sync.Mutex
	state string
	index *catalog.Index
	err   error
	reads int
	gate  chan struct{} // Read waits for it, when set
}

func (o *fakeOrigin) String() string { return "a test" }

func (o *fakeOrigin) State(context.Context) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == "" {
		return "", errors.New("no state")
	}
	return o.state, nil
}

func (o *fakeOrigin) Read(ctx context.Context) (*catalog.Index, error) {
	if o.gate != nil {
		select {
		case <-o.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reads++
	return o.index, o.err
}

func (o *fakeOrigin) set(state string, index *catalog.Index, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.state, o.index, o.err = state, index, err
}

func (o *fakeOrigin) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reads
}

// running is a Run that a test started.
type running struct {
	Addresses
	log  *lines
	stop context.CancelFunc
	done chan error
}

// lines is a log that a test reads while it is written.
type lines struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.String(), text)
}

const anyPort = "127.0.0.1:0"

// run starts a server and waits until it listens.
func run(t *testing.T, cfg Config) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{log: &lines{}, stop: cancel, done: make(chan error, 1)}
	cfg.Log = slog.New(slog.NewTextHandler(r.log, nil))
	listening := make(chan Addresses, 1)
	cfg.Listening = func(a Addresses) { listening <- a }
	go func() { r.done <- Run(ctx, cfg) }()
	select {
	case r.Addresses = <-listening:
	case err := <-r.done:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		select {
		case <-r.done:
		case <-time.After(30 * time.Second):
			t.Error("the server does not stop")
		}
	})
	return r
}

// eventually waits for something that is to happen.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came to be that %s", what)
		}
	}
}

func (r *running) serving(t *testing.T) func() bool {
	client := healthpb.NewHealthClient(dial(t, r.GRPC.String()))
	return func() bool {
		answer, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{})
		return err == nil && answer.GetStatus() == healthpb.HealthCheckResponse_SERVING
	}
}

// packages asks both servers for the package of the only catalog. The answer is empty when they say different things, which happens
// when new content comes between the two questions.
func (r *running) packages(t *testing.T) string {
	t.Helper()
	names := must.Value(packageNames(soon(t), dial(t, r.GRPC.String())))(t)
	_, body := do(t, "http://"+r.HTTP.String(), request{path: "/api/v1/metas?schema=olm.package"})
	if len(names) != 1 {
		t.Fatalf("packages %v, want one", names)
	}
	if !strings.Contains(body, `"name":"`+names[0]+`"`) {
		return ""
	}
	return names[0]
}

func TestRunListensAtOnceAndIsHealthyWhenAllIsRead(t *testing.T) {
	origin := &fakeOrigin{state: "1", index: onePackage(t, "one"), gate: make(chan struct{})}
	r := run(t, Config{GRPC: anyPort, HTTP: anyPort, Catalogs: []Catalog{{Name: "c", Origin: origin}}})
	serving := r.serving(t)
	must.Equal(t, "it serves before anything was read", serving(), false)
	if answer, _ := do(t, "http://"+r.HTTP.String(), request{path: "/api/v1/all"}); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("before anything was read: %s", answer.Status)
	}
	close(origin.gate)
	eventually(t, "it serves", serving)
	must.Equal(t, "package", r.packages(t), "one")
	r.stop()
	must.NoErrorf(t, <-r.done, "stopped")
	r.done <- nil
	if conn, err := net.Dial("tcp", r.GRPC.String()); err == nil {
		conn.Close()
		t.Error("it still listens")
	}
}

func TestRunStopsWhileItReads(t *testing.T) {
	r := run(t, Config{GRPC: anyPort, Catalogs: []Catalog{{Name: "c", Origin: &fakeOrigin{state: "1", gate: make(chan struct{})}}}})
	r.stop()
	must.NoErrorf(t, <-r.done, "stopped")
	r.done <- nil
}

func TestRunFails(t *testing.T) {
	busy := must.Value(net.Listen("tcp", anyPort))(t)
	defer busy.Close()
	good := func() *fakeOrigin { return &fakeOrigin{state: "1", index: onePackage(t, "one")} }
	tests := map[string]struct {
		cfg   Config
		reads bool
		want  string
	}{
		"the port of gRPC is busy":     {Config{GRPC: busy.Addr().String()}, false, "serve gRPC: listen tcp " + busy.Addr().String()},
		"the port of HTTP is busy":     {Config{GRPC: anyPort, HTTP: busy.Addr().String()}, false, "serve HTTP: listen tcp " + busy.Addr().String()},
		"the port of profiles is busy": {Config{GRPC: anyPort, HTTP: anyPort, Pprof: busy.Addr().String()}, false, "serve profiles: listen tcp " + busy.Addr().String()},
		"there is no such port":        {Config{GRPC: "127.0.0.1:99999"}, false, "invalid port"},
		"one of two cannot be read": {
			Config{GRPC: anyPort, Catalogs: []Catalog{{Name: "bad", Origin: &fakeOrigin{state: "1", err: errors.New("broken")}}}},
			true, "read catalog bad from a test: broken",
		},
		"one of two cannot even be looked at": {
			Config{GRPC: anyPort, Catalogs: []Catalog{{Name: "bad", Origin: &fakeOrigin{}}}}, true, "read catalog bad from a test: no state",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			first := good()
			test.cfg.Log, test.cfg.Catalogs = quiet, append([]Catalog{{Name: "good", Origin: first}}, test.cfg.Catalogs...)
			err := Run(t.Context(), test.cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			must.Equal(t, "something was read", first.count() > 0, test.reads)
		})
	}
}

func TestRunServesNewContent(t *testing.T) {
	const poll = 10 * time.Millisecond
	origin := &fakeOrigin{state: "1", index: onePackage(t, "one")}
	r := run(t, Config{GRPC: anyPort, HTTP: anyPort, Catalogs: []Catalog{{Name: "c", Origin: origin, Poll: poll}}})
	eventually(t, "it serves", r.serving(t))

	origin.set("2", onePackage(t, "two"), nil)
	eventually(t, "the new content is served", func() bool { return r.packages(t) == "two" })

	origin.set("3", nil, errors.New("half of it is missing"))
	eventually(t, "the trouble is said", func() bool { return r.log.has("half of it is missing") })
	must.Equal(t, "package", r.packages(t), "two")
	origin.set("3", onePackage(t, "three"), nil)
	eventually(t, "the same state is tried again", func() bool { return r.packages(t) == "three" })

	origin.set("", nil, nil)
	eventually(t, "the trouble with the state is said", func() bool { return r.log.has("no state") })
	must.Equal(t, "package", r.packages(t), "three")
	origin.set("4", onePackage(t, "four"), nil)
	eventually(t, "it goes on", func() bool { return r.packages(t) == "four" })

	reads := origin.count()
	time.Sleep(10 * poll)
	must.Equal(t, "what does not change was read again", origin.count(), reads)
}

func TestRunLeavesAloneWhatIsBeingWritten(t *testing.T) {
	const poll = 30 * time.Millisecond
	origin := &fakeOrigin{state: "1", index: onePackage(t, "one")}
	r := run(t, Config{GRPC: anyPort, HTTP: anyPort, Catalogs: []Catalog{{Name: "c", Origin: origin, Poll: poll}}})
	eventually(t, "it serves", r.serving(t))
	for n := range 100 { // ten times a look: no two looks see the same
		origin.set(fmt.Sprint("writing ", n), nil, errors.New("half written"))
		time.Sleep(poll / 10)
	}
	if r.log.has("half written") {
		t.Error("it was read while it changed")
	}
	origin.set("2", onePackage(t, "two"), nil)
	eventually(t, "the new content is served", func() bool { return r.packages(t) == "two" })
}

func TestRunReloadsWhenAsked(t *testing.T) {
	reload := make(chan os.Signal, 1)
	origin := &fakeOrigin{state: "1", index: onePackage(t, "one")}
	r := run(t, Config{GRPC: anyPort, HTTP: anyPort, Catalogs: []Catalog{{Name: "c", Origin: origin}}, Reload: reload})
	eventually(t, "it serves", r.serving(t))
	origin.set("1", onePackage(t, "two"), nil)
	reload <- syscall.SIGHUP
	eventually(t, "the new content is served", func() bool { return r.packages(t) == "two" })
}

func TestRunServesProfiles(t *testing.T) {
	origin := &fakeOrigin{state: "1", index: onePackage(t, "one"), gate: make(chan struct{})}
	r := run(t, Config{GRPC: anyPort, Pprof: anyPort, StartupProfile: true, Catalogs: []Catalog{{Name: "c", Origin: origin}}})
	url := "http://" + r.Pprof.String()
	if answer, body := do(t, url, request{path: "/debug/pprof/startup/cpu"}); answer.StatusCode != http.StatusServiceUnavailable || strings.TrimSpace(body) != notReady {
		t.Errorf("before it is ready: %s %q", answer.Status, body)
	}
	close(origin.gate)
	eventually(t, "it serves", r.serving(t))
	if answer, body := do(t, url, request{path: "/debug/pprof/startup/cpu"}); answer.StatusCode != 200 || !strings.HasPrefix(body, "\x1f\x8b") {
		t.Errorf("when it is ready: %s, %d bytes", answer.Status, len(body))
	}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/symbol", "/debug/pprof/heap", "/debug/pprof/trace?seconds=0.01", "/debug/pprof/profile?seconds=1"} {
		if answer, body := do(t, url, request{path: path}); answer.StatusCode != 200 || body == "" {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
	without := run(t, Config{Pprof: anyPort})
	if answer, _ := do(t, "http://"+without.Pprof.String(), request{path: "/debug/pprof/startup/cpu"}); answer.StatusCode != 404 {
		t.Errorf("a start that was not profiled: %s", answer.Status)
	}
}
