package metrics

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"fairlead.dev/fairlead/internal/platform"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/rest"
)

const (
	// DefaultTLSAddress is where is listened with a certificate when nothing else is said.
	DefaultTLSAddress = ":8443"
	// readHeaders bounds how long a client may take to say what it wants, and idle how long it may say nothing.
	readHeaders = 10 * time.Second
	idle        = 90 * time.Second
	// stopTime is how long answers under way may continue after the server was told to stop.
	stopTime = 5 * time.Second
)

// Options are what a Server works with.
type Options struct {
	// Address is host:port; empty is DefaultTLSAddress with certificate files and none without, "0" is none.
	Address string
	TLS     Files
	// Own is served where TLS names no certificate. It has content before Open.
	Own Certificate
	// Plain serves HTTP, without authentication.
	Plain bool
	// Profile is how TLS is spoken, by new connections from the time of a change; nil is as Go does.
	Profile *platform.Source
	// REST reaches the API server, which is asked who may read metrics; needed unless Plain.
	REST    *rest.Config
	Metrics prometheus.Gatherer
	// Debug serves profiles to every client where Plain is set.
	Debug bool
	Log   logr.Logger
}

// Server answers at an address.
type Server struct {
	listener net.Listener
	handler  http.Handler
	identity *identity // nil without TLS
	log      logr.Logger
}

// Open listens, so that a busy port or a file of no use is reported before anything else; nil when there is nothing to listen at.
func Open(ctx context.Context, o Options) (*Server, error) {
	if err := o.TLS.Check(o.Plain); err != nil {
		return nil, err
	}
	address := o.address()
	if address == "" || address == "0" {
		return nil, nil
	}
	s := &Server{log: o.Log}
	var err error
	metrics := promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{})
	profiles := profilesFor(func(*http.Request) bool { return o.Debug })
	if !o.Plain {
		if o.TLS.Certificate == "" && o.Own == nil {
			return nil, errors.New("serve metrics: there is no certificate; give --tls-cert and --tls-key, or --metrics-plain")
		}
		if s.identity, err = o.TLS.load(o.Own, o.Profile); err != nil {
			return nil, err
		}
		if metrics, err = askAPIServer(o.REST, metrics, o.Log); err != nil {
			return nil, err
		}
		// The client has to show a certificate of an authority that is believed: one that is not ends the connection.
		profiles = profilesFor(func(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 })
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics)
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.Handle("/debug/pprof/", profiles)
	s.handler = mux
	var config net.ListenConfig
	if s.listener, err = config.Listen(ctx, "tcp", address); err != nil {
		return nil, fmt.Errorf("serve metrics: %w; choose another address, or 0 for none", err)
	}
	return s, nil
}

func (o Options) address() string {
	if o.Address == "" && o.TLS.Certificate != "" {
		return DefaultTLSAddress
	}
	return o.Address
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// NeedLeaderElection lets every manager answer.
func (s *Server) NeedLeaderElection() bool { return false }

// Start answers until the context ends.
func (s *Server) Start(ctx context.Context) error {
	listener := s.listener
	if s.identity != nil {
		// Adopt what is written to the files until the context ends. What is of no use is logged, and what was there before stays.
		i := s.identity
		if files, ok := i.pair.(*dynamiccertificates.DynamicCertKeyPairContent); ok {
			go files.Run(ctx, 1)
		}
		if i.clients != nil {
			go i.clients.Run(ctx, 1)
		}
		go i.serving.Run(1, ctx.Done())
		// Each connection has what the files hold by then.
		listener = tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: i.profile.ForClients(i.serving.GetConfigForClient)})
	}
	server := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: readHeaders, IdleTimeout: idle,
		BaseContext:  func(net.Listener) context.Context { return ctx },
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // no HTTP/2, whose resets cost servers dearly
		ErrorLog:     log.New(lines{s.log.V(1)}, "", 0),
	}
	stopped := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		defer close(stopped)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if server.Shutdown(bounded) != nil {
			_ = server.Close() // the one who still reads has had the time
		}
	})()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics at %s: %w", s.Addr(), err)
	}
	<-stopped
	return nil
}

// profilesFor shows profiles to a user who may see them: they tell of the inside of the program, and taking them costs time.
func profilesFor(may func(*http.Request) bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !may(r) {
			http.Error(w, "profiles need a client certificate that the authority of --client-ca has signed, or with --metrics-plain the flag --debug", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
