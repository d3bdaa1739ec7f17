package console

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"embed"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"

	"github.com/klauspost/compress/gzhttp"
	"k8s.io/utils/clock"
)

// Options say what a console serves, to whom.
type Options struct {
	// Access lets users in.
	Access Access
	// Hosts are the names by which browsers address the console; Loopback has those of this machine.
	Hosts []string
	// TLS is nil where the console speaks plain HTTP, which it may on loopback alone.
	TLS *tls.Config
	// Idle is how long a session lasts unused, and Whole how long at most; 0 is for as long as the console runs.
	Idle, Whole time.Duration
	// Library has the content of catalogs. The caller closes it after the console has ended.
	Library *preview.Library
	// OwnMachine is true where the console runs on the machine of its user, who may read images from there; else it reads none that a user names. See reads.
	OwnMachine bool
	// GlobalNamespace is that of the catalogs that all namespaces see.
	GlobalNamespace string
	// Changes tells when what pages show has changed; nil watches as the user.
	Changes Changes
	Log     *slog.Logger
	Clock   clock.PassiveClock
}

// Console is a web console.
type Console struct {
	Options
	guard     guard
	sessions  *sessions
	shelf     *shelf
	front     *storefront
	standings *readings[standingKey, standings]
	runner    *runner
	answers   *readings[asked, *whyAnswer]                // to questions why
	contents  *readings[asked, *preview.CatalogContent]   // of catalogs
	updates   *readings[asked, *preview.CatalogUpdate]    // that other images of catalogs would be
	planned   *readings[asked, *preview.SubscriptionPlan] // what InstallPlans that wait would change
	extended  *readings[asked, *preview.ExtensionPlan]    // what extensions that wait would change
	upgrades  *readings[asked, upgradePlan]               // what would come of upgrades that are asked for
	proofs    *readings[asked, *ops.Rollback]             // of steps back
	pages     *pages
	assets    *assets
	streams   chan struct{}  // has an element for each
	cluster   *ClusterAccess // nil for the console of a kubeconfig
	handler   http.Handler
}

//go:embed static/mark.svg static/style static/script templates
var files embed.FS

// New is a console that serves nowhere yet.
func New(o Options) (*Console, error) {
	c := &Console{Options: o, guard: guard{hosts: o.Hosts, secure: o.TLS != nil}, sessions: newSessions(o.Clock, o.Idle, o.Whole),
		shelf: newShelf(o.Library, o.GlobalNamespace, o.Clock), streams: make(chan struct{}, allStreams), runner: newRunner(o.Clock, o.Log),
		answers:  newReadings[asked, *whyAnswer](o.Clock, maxAnswers),
		contents: newReadings[asked, *preview.CatalogContent](o.Clock, maxAnswers), updates: newReadings[asked, *preview.CatalogUpdate](o.Clock, maxAnswers),
		planned: newReadings[asked, *preview.SubscriptionPlan](o.Clock, maxAnswers), extended: newReadings[asked, *preview.ExtensionPlan](o.Clock, maxAnswers),
		upgrades: newReadings[asked, upgradePlan](o.Clock, maxAnswers), proofs: newReadings[asked, *ops.Rollback](o.Clock, maxAnswers)}
	c.front, c.standings = newStorefront(c), newReadings[standingKey, standings](o.Clock, maxOffers)
	if c.Changes == nil {
		c.Changes = watchAs
	}
	c.sessions.forgotten = door{c}.forget
	var err error
	if c.assets, err = newAssets(); err != nil {
		return nil, err
	}
	if c.pages, err = newPages(c.assets); err != nil {
		return nil, err
	}
	if a, ok := c.Access.(*ClusterAccess); ok {
		c.cluster = a
		if err := a.attach(c); err != nil {
			return nil, err
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /static/", c.assets)
	mux.Handle("/", c.inSession(c.routes()))
	c.handler = c.guard.wrap(mux)
	return c, nil
}

// Handler answers everything.
func (c *Console) Handler() http.Handler { return c.handler }

// Bounds of a connection.
const (
	readHeaderTime = 5 * time.Second
	readTime       = 30 * time.Second
	idleTime       = 2 * time.Minute
	// writeTime is how long an answer may take to be made and to be taken. Streams have their own.
	writeTime = 3 * pageTime
	maxHeader = 32 << 10
	// pageTime is how long a page may take to be made, which reads the cluster.
	pageTime = 30 * time.Second
	stopTime = 2 * time.Second
)

// Serve answers at a listener until the context ends.
func (c *Console) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: c.handler, TLSConfig: c.TLS, ReadHeaderTimeout: readHeaderTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug), BaseContext: func(net.Listener) context.Context { return ctx }}
	go c.sessions.sweeps(ctx)
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := server.Shutdown(ending); err != nil {
			err = server.Close() // a page that is still being made
			stopped <- err
			return
		}
		stopped <- nil
	})
	defer stop()
	serve := server.Serve
	if c.TLS != nil {
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	if err := serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// cookie is the name of the cookie of a session. Cookies of one name and machine are shared by all ports, so that two consoles need two names.
func (c *Console) cookie(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host) // of which the host may be an address of IPv6
	if err != nil {
		port = "443"
	}
	name := "fairlead-console-" + port
	if c.guard.secure {
		return "__Host-" + name
	}
	return name
}

type sessionKey struct{}

// inSession answers with the session of the cookie, or lets a user in.
func (c *Console) inSession(next http.Handler) http.Handler {
	// A writer of the default level takes more than a megabyte, and makes pages hardly smaller.
	zip, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed))
	if err != nil {
		panic("the level is one that there is: " + err.Error())
	}
	zipped := zip(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, answered := door{c}.sessionOf(w, r)
		if answered {
			return
		}
		if s != nil {
			r = r.WithContext(context.WithValue(r.Context(), sessionKey{}, s))
			if r.URL.Path == streamPath { // each of its messages goes out at once
				next.ServeHTTP(w, r)
				return
			}
			zipped.ServeHTTP(w, r)
			return
		}
		if user := c.Access.Enter(w, r); user != nil && (door{c}).letIn(w, r, user) {
			http.Redirect(w, r, "/", http.StatusSeeOther) // so that the address is not in the history of the browser, nor on the screen
		}
	})
}

// part is a page, or some that belong together, with the changes that it offers.
type part struct {
	views   []view
	actions []action
	others  map[string]http.HandlerFunc // what is no page: pictures
}

// parts are all of the console.
func (c *Console) parts() []part {
	return append(c.front.parts(), c.installedPart(), operatorPages{c}.part(), operandPages{}.part(), c.runner.part(), approvals{c}.part(), questions{c}.part(), sources{c}.part(), docsPart(), door{c}.part())
}

// Paths are the patterns of all that can be read, for tests of every page.
func Paths(c *Console) (all []string) {
	for _, part := range c.parts() {
		for _, v := range part.views {
			all = append(all, v.path, "/api"+v.path)
		}
		for path := range part.others {
			all = append(all, path)
		}
	}
	return all
}

// routes are the pages.
func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/installed", http.StatusSeeOther) })
	mux.HandleFunc("GET "+streamPath, c.stream)
	for _, part := range c.parts() {
		for _, v := range part.views {
			mux.HandleFunc("GET "+v.path, c.page(v))
			mux.HandleFunc("GET /api"+v.path, c.json(v))
			if v.posted {
				mux.HandleFunc("POST "+v.path, c.page(v))
			}
		}
		for _, a := range part.actions {
			mux.HandleFunc("POST "+a.path, c.act(a))
		}
		for path, handler := range part.others {
			mux.HandleFunc("GET "+path, handler)
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, apiPrefix) {
			c.answer(w, r, noRoute.status, refusal(noRoute))
			return
		}
		c.fail(w, r, noRoute)
	})
	return mux
}
