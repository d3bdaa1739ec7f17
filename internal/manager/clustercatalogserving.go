package manager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/controller/clustercatalog"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/platform"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
)

// contentWait is how long a client is kept waiting for content that this manager is still reading, but the one that leads has announced.
const contentWait = 20 * time.Second

// catalogHTTP is the HTTP server of the contents of ClusterCatalogs. It runs in every manager: a Service leads to any of them.
type catalogHTTP struct {
	clustercatalog.Serving
	listener net.Listener
	serving  *dynamiccertificates.DynamicServingCertificateController // nil without TLS
	pair     metrics.Certificate
	profile  *platform.Source
	known    *catalogstore.Set
	health   *catalogserver.Health
	reader   client.Reader // a cache
	wait     time.Duration // contentWait, but for tests
	log      logr.Logger
}

// openCatalogHTTP listens, so that a busy port is told before anything else; nil when catalogs are not to be served.
func openCatalogHTTP(o Options, known *catalogstore.Set, own metrics.Certificate) (*catalogHTTP, error) {
	h := o.CatalogHTTP
	if err := h.check(); err != nil {
		return nil, err
	}
	if h.address() == noAddress || !o.clusterWide() {
		return nil, nil
	}
	s := &catalogHTTP{known: known, profile: o.TLS, health: catalogserver.NewHealth(), wait: contentWait, log: o.Log.WithName("catalogs")}
	var err error
	if s.serving, s.pair, err = h.identity(own); err != nil {
		return nil, err
	}
	if s.listener, err = net.Listen("tcp", h.address()); err != nil {
		return nil, fmt.Errorf("serve ClusterCatalogs: %w; choose another address, or 0 for none", err)
	}
	s.Serving = clustercatalog.Serving{URL: h.url(s.listener.Addr().(*net.TCPAddr)), Catalogs: &catalogserver.Set{}}
	return s, nil
}

// addTo makes the manager run the server, and be ready once it has read what clients expect.
func (s *catalogHTTP) addTo(mgr manager.Manager, servers *services, probes *health) {
	if s == nil {
		return
	}
	s.reader = mgr.GetClient()
	servers.Add(s)
	probes.ready["catalogs"] = func(*http.Request) error {
		if !s.health.Serving() {
			return errors.New("the contents of ClusterCatalogs are still being read")
		}
		return nil
	}
}

// Start serves until the context ends.
func (s *catalogHTTP) Start(ctx context.Context) error {
	requests, err := metrics.Register(ctrlmetrics.Registry, metrics.NewCatalogRequests())
	if err != nil {
		return err
	}
	server := catalogserver.NewHTTP(named{s.Catalogs}, s.health, slog.New(logr.ToSlogHandler(s.log)))
	server.Handler = measured(requests, s.awaiting(server.Handler))
	server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){} // no HTTP/2, whose resets cost servers dearly
	listener := catalogserver.Limit(s.listener)
	if s.serving != nil {
		if files, ok := s.pair.(*dynamiccertificates.DynamicCertKeyPairContent); ok {
			go files.Run(ctx, 1)
		}
		go s.serving.Run(1, ctx.Done())
		listener = tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: s.profile.ForClients(s.serving.GetConfigForClient)})
	}
	go s.becomeHealthy(ctx)
	stopped := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		defer close(stopped)
		s.health.Stop()
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopCalls)
		defer cancel()
		if server.Shutdown(bounded) != nil {
			_ = server.Close() // the one who still reads has had the time
		}
	})()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve ClusterCatalogs at %s: %w", s.listener.Addr(), err)
	}
	<-stopped
	return nil
}

// becomeHealthy says that the server serves once the contents are there that statuses name. It does not wait for long: one slow registry must
// not keep the other catalogs from being served.
func (s *catalogHTTP) becomeHealthy(ctx context.Context) {
	defer s.health.Set(true) // says nothing any more once the server stops
	ctx, cancel := context.WithTimeout(ctx, firstLooks)
	defer cancel()
	_ = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(context.Context) (bool, error) {
		var all olmv1.ClusterCatalogList
		if s.reader.List(ctx, &all) != nil {
			return false, nil // the cache is not filled yet
		}
		for i := range all.Items {
			if object := &all.Items[i]; expected(object) {
				if _, looked := s.known.Get(snapshot.CatalogRef(object.Name)); !looked {
					return false, nil
				}
			}
		}
		return true, nil
	})
}

// expected tells whether clients may expect the content of a catalog.
func expected(object *olmv1.ClusterCatalog) bool {
	return object.Spec.AvailabilityMode != olmv1.AvailabilityModeUnavailable && object.DeletionTimestamp.IsZero() && snapshot.CatalogDigest(object) != ""
}

// awaiting keeps those waiting for a while who ask for content that is still being read here, and then tells them to come again.
func (s *catalogHTTP) awaiting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/catalogs/"), "/")
		if !strings.HasPrefix(r.URL.Path, "/catalogs/") || !catalogserver.ValidName(name) || s.served(name) {
			next.ServeHTTP(w, r)
			return
		}
		var object olmv1.ClusterCatalog
		if s.reader.Get(r.Context(), client.ObjectKey{Name: name}, &object) != nil || !expected(&object) {
			next.ServeHTTP(w, r) // which tells that there is none
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(2 * s.wait)) // otherwise its end would be taken for that of the client
		ctx, cancel := context.WithTimeout(r.Context(), s.wait)
		defer cancel()
		if wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) { return s.served(name), nil }) == nil {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Retry-After", "5")
		http.Error(w, "the content of this catalog is still being read here; try again in a moment", http.StatusServiceUnavailable)
	})
}

func (s *catalogHTTP) served(name string) bool {
	_, ok := s.Catalogs.Catalog(name)
	return ok
}

// measured observes how long answers take. It is said also of those that are broken off.
func measured(requests *prometheus.HistogramVec, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, answer := time.Now(), &answered{ResponseWriter: w, code: http.StatusOK}
		defer func() { requests.WithLabelValues(strconv.Itoa(answer.code)).Observe(time.Since(begun).Seconds()) }()
		next.ServeHTTP(answer, r)
	})
}

// answered remembers the status code of an answer.
type answered struct {
	http.ResponseWriter
	code int
}

// WriteHeader begins the answer.
func (a *answered) WriteHeader(code int) {
	a.code = code
	a.ResponseWriter.WriteHeader(code)
}

// Unwrap lets deadlines be set, without which a large answer would be broken off.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }
