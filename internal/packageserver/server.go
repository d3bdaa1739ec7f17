package packageserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead.dev/fairlead/api/packages/openapi"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/internal/platform"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	endpoints "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/endpoints/request"
	registry "k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// name is what the server is called in its logs and metrics.
const name = "packageserver"

// drainTime is how long requests under way may go on after the server was told to stop.
const drainTime = 5 * time.Second

// Config is what a Server works with; all of it is needed.
type Config struct {
	// REST reaches the API server, which is asked who a user is and what they may do.
	REST *rest.Config
	// Cluster and Contents are what is answered from.
	Cluster  Cluster
	Contents Contents
	// GlobalNamespace holds the catalogs that every namespace sees.
	GlobalNamespace string
	// Listener is where requests come in, and Certificate what is shown there.
	Listener    net.Listener
	Certificate dynamiccertificates.CertKeyContentProvider
	// TLS is how the server speaks TLS for as long as it runs; the zero value is as Go does.
	TLS   platform.Profile
	Clock clock.PassiveClock
	Log   logr.Logger
}

// Server is the aggregated API server.
type Server struct {
	generic *genericapiserver.GenericAPIServer
	config  *genericapiserver.Config
	storage *storage
	changed chan struct{}
	open    sync.Once
	running context.Context // ends with the server, or when it cannot be set up
	end     context.CancelFunc
	log     logr.Logger
}

// New sets a server up; it serves nothing before Run. The context bounds how long it may take to learn from the cluster whom to believe.
func New(ctx context.Context, c Config) (*Server, error) {
	client, err := kubernetes.NewForConfig(c.REST)
	if err != nil {
		return nil, fmt.Errorf("set up the package server: %w", err)
	}
	s := newServer(c)
	if err = delegate(ctx, s.running, client, s.config); err != nil {
		err = fmt.Errorf("set up the package server: %w", err)
	} else {
		err = s.install()
	}
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func newServer(c Config) *Server {
	var spoken tls.Config
	c.TLS.Apply(&spoken)
	g := genericapiserver.NewConfig(codecs)
	g.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	g.FeatureGate = utilfeature.DefaultFeatureGate
	g.LoopbackClientConfig = rest.CopyConfig(c.REST)
	g.SecureServing = &genericapiserver.SecureServingInfo{Listener: c.Listener, Cert: c.Certificate,
		MinTLSVersion: spoken.MinVersion, CipherSuites: spoken.CipherSuites, CurvePreferences: spoken.CurvePreferences, DisableHTTP2: !c.TLS.HTTP2()}
	g.BuildHandlerChainFunc = func(api http.Handler, c *genericapiserver.Config) http.Handler {
		return genericapiserver.DefaultBuildHandlerChain(http.
			Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				info, ok := request.RequestInfoFrom(r.Context())
				accepted := strings.Split(r.Header.Get("Accept-Encoding"), ",")
				if !ok || info.Verb != "list" || !slices.ContainsFunc(accepted, func(encoding string) bool { return strings.TrimSpace(encoding) == "gzip" }) {
					api.ServeHTTP(w, r)
					return
				}
				a := &answer{ResponseWriter: w}
				api.ServeHTTP(a, r.WithContext(context.WithValue(r.Context(), answerKey{}, a)))
			})), c)
	}
	g.EnableProfiling = false
	g.ExternalAddress = "localhost"
	g.RequestTimeout = time.Minute
	names := endpoints.NewDefinitionNamer(scheme)
	g.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, names)
	g.OpenAPIConfig.Info.Title, g.OpenAPIConfig.Info.Version = name, "v1"
	g.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, names)
	g.OpenAPIV3Config.Info.Title, g.OpenAPIV3Config.Info.Version = name, "v1"
	running, end := context.WithCancel(context.Background())
	return &Server{
		config:  g,
		storage: &storage{present: newPresent(c), global: c.GlobalNamespace, opened: make(chan struct{}), ended: running.Done()},
		changed: make(chan struct{}, 1),
		running: running,
		end:     end,
		log:     c.Log,
	}
}

// install makes the server of its configuration.
func (s *Server) install() error {
	generic, err := s.config.Complete(nil).New(name, genericapiserver.NewEmptyDelegate())
	if err != nil {
		return fmt.Errorf("set up the package server: %w", err)
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(packagesv1.GroupName, scheme, metav1.ParameterCodec, codecs)
	group.VersionedResourcesStorageMap[packagesv1.GroupVersion.Version] = map[string]registry.Storage{resource: s.storage, iconResource: &iconStorage{s.storage}}
	if err := generic.InstallAPIGroup(&group); err != nil {
		return fmt.Errorf("set up the package server: %w", err)
	}
	if err := generic.AddReadyzChecks(healthz.NamedCheck("packages", func(*http.Request) error { return s.storage.ready() })); err != nil {
		return fmt.Errorf("set up the package server: %w", err)
	}
	generic.ShutdownTimeout = drainTime - time.Second // before untilDrained gives up
	s.generic = generic
	return nil
}

// Changed says that something may be shown differently now: a catalog's content, what is said of a catalog, or who sees it.
func (s *Server) Changed() {
	select {
	case s.changed <- struct{}{}:
	default: // it is known already
	}
}

// Open checks everything that there is to be shown for the first time. Until then requests are refused and the server is not ready: a
// client must not take what was not checked yet for what is not there.
func (s *Server) Open(ctx context.Context) error {
	err := s.storage.present.refresh(ctx)
	if err == nil {
		s.open.Do(func() { close(s.storage.opened) })
	}
	return err
}

// Pauses: after a change, for others that come with it, and after a look that failed.
const (
	calm       = 20 * time.Millisecond
	retryLooks = time.Second
)

// keepUp refreshes after changes, and when what could not be read is to be tried again, until the context ends. It is in the background, so that no request waits for a catalog to be read.
func (s *Server) keepUp(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-s.storage.opened:
	}
	for pause := calm; ; {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		case <-s.storage.present.docs.due():
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = calm
		if err := s.storage.present.refresh(ctx); err != nil && ctx.Err() == nil {
			s.log.Error(err, "PackageManifests stay as they are; it is tried again", "in", retryLooks)
			pause = retryLooks
			s.Changed()
		}
	}
}

// Run serves until the context ends, and then lets requests under way come to their end, for as long as drainTime.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, s.end) // watches would go on for as long as their clients like
	defer stop()
	defer s.end()
	go s.keepUp(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.generic.PrepareRun().RunWithContext(ctx) }()
	if err := untilDrained(ctx, ended); err != nil {
		return fmt.Errorf("serve packages on %s: %w", s.config.SecureServing.Listener.Addr(), err)
	}
	return nil
}

// untilDrained waits for a server, and once the context has ended for no longer than drainTime: the server itself would wait for requests that
// do not come to their end, and the one who stops it would wait with it.
func untilDrained(ctx context.Context, ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return fmt.Errorf("requests were still under way %s after the request to stop", drainTime)
	}
}

// Handler is what answers requests, authentication and authorization included.
func (s *Server) Handler() http.Handler { return s.generic.Handler }
