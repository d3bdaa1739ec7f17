package packageserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"fairlead.dev/fairlead/internal/packageserver/openapi"

	endpoints "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// name is what the server is called in its logs and metrics.
const name = "packageserver"

// drainTime is how long requests under way may go on after the server was told to stop.
const drainTime = 5 * time.Second

// Config is what a Server works with; all of it is needed.
type Config struct {
	// REST reaches the API server, which is asked who somebody is and what they may do.
	REST *rest.Config
	// Cluster and Contents are what is answered from.
	Cluster  Cluster
	Contents Contents
	// GlobalNamespace holds the catalogs that every namespace sees.
	GlobalNamespace string
	// Listener is where requests come in, and Certificate what is shown there.
	Listener    net.Listener
	Certificate dynamiccertificates.CertKeyContentProvider
	// Start is the time now.
	Start time.Time
}

// Server is the aggregated API server.
type Server struct {
	generic   *genericapiserver.GenericAPIServer
	config    *genericapiserver.Config
	storage   *storage
	delegated *delegation
	end       context.CancelFunc
}

// New sets a server up; it serves nothing before Run. The context bounds how long it may take to learn from the cluster whom to believe.
func New(ctx context.Context, c Config) (*Server, error) {
	client, err := kubernetes.NewForConfig(c.REST)
	if err != nil {
		return nil, fmt.Errorf("set up the package server: %w", err)
	}
	s := newServer(c)
	if s.delegated, err = delegate(ctx, client, s.config); err != nil {
		return nil, fmt.Errorf("set up the package server: %w", err)
	}
	return s, s.install()
}

func newServer(c Config) *Server {
	running, end := context.WithCancel(context.Background())
	v := &view{cluster: c.Cluster, contents: c.Contents, global: c.GlobalNamespace, docs: &documents{limit: maxPacked}}
	return &Server{
		config:  newConfig(c),
		storage: &storage{view: v, revisions: newRevisions(c.Start), ended: running.Done()},
		end:     end,
	}
}

func newConfig(c Config) *genericapiserver.Config {
	g := genericapiserver.NewConfig(codecs)
	g.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	g.FeatureGate = utilfeature.DefaultFeatureGate
	g.LoopbackClientConfig = rest.CopyConfig(c.REST)
	g.SecureServing = &genericapiserver.SecureServingInfo{Listener: c.Listener, Cert: c.Certificate}
	g.EnableProfiling = false
	g.ExternalAddress = "localhost"
	g.RequestTimeout = time.Minute
	names := endpoints.NewDefinitionNamer(scheme)
	g.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, names)
	g.OpenAPIConfig.Info.Title, g.OpenAPIConfig.Info.Version = name, "v1"
	g.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, names)
	g.OpenAPIV3Config.Info.Title, g.OpenAPIV3Config.Info.Version = name, "v1"
	return g
}

// install makes the server of its configuration.
func (s *Server) install() error {
	generic, err := s.config.Complete(nil).New(name, genericapiserver.NewEmptyDelegate())
	if err != nil {
		return fmt.Errorf("set up the package server: %w", err)
	}
	if err := generic.InstallAPIGroup(apiGroup(s.storage)); err != nil {
		return fmt.Errorf("set up the package server: %w", err)
	}
	generic.ShutdownTimeout = drainTime
	s.generic = generic
	return nil
}

// Changed says that something may be shown differently now: a catalog's content, what is said of a catalog, or who sees it.
func (s *Server) Changed() {
	s.storage.view.docs.keepOnly(s.storage.view.contents.Digests())
	s.storage.revisions.next()
}

// Run serves until the context ends, and then lets requests under way come to their end.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, s.end) // watches would go on for as long as their clients like
	defer stop()
	if s.delegated != nil {
		s.delegated.run(ctx)
	}
	if err := s.generic.PrepareRun().RunWithContext(ctx); err != nil {
		return fmt.Errorf("serve packages on %s: %w", s.config.SecureServing.Listener.Addr(), err)
	}
	return nil
}

// Handler is what answers requests, authentication and authorization included.
func (s *Server) Handler() http.Handler { return s.generic.Handler }
