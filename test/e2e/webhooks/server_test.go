package webhooks

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/devcluster"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mountInterval is how often what is mounted into a pod follows its Secret. A kubelet takes up to a minute or so.
const mountInterval = time.Second

// server answers in the place of the pods of a Deployment, with what is mounted into them. Each request is a connection of its own, so that
// the certificate is judged each time.
type server struct {
	w          *world
	deployment string
	server     *httptest.Server

	mu      sync.Mutex
	mounted *tls.Certificate
	// own is shown instead, where it is set.
	own *tls.Certificate
	// shown is how often each certificate was shown, by serial number; asked is how often each path was asked for.
	shown map[string]int
	asked map[string]int
	// complaints are what the server wrote about connections that failed.
	complaints []string
}

// serve stands in for the pods of a Deployment until the test is over.
func (w *world) serve(deployment string) *server {
	w.Helper()
	s := &server{w: w, deployment: deployment, shown: map[string]int{}, asked: map[string]int{}}
	s.server = httptest.NewUnstartedServer(s)
	s.server.TLS = &tls.Config{GetCertificate: s.certificate, ClientAuth: tls.RequestClientCert}
	s.server.Config.SetKeepAlivesEnabled(false)
	s.server.Config.ErrorLog = log.New(complaints{s}, "", 0)
	s.server.StartTLS()
	w.Cleanup(s.server.Close)
	devcluster.Route(w, w.Namespace+"/"+bundle.ServingServiceName(deployment), s.server.Listener.Addr().String())
	servers.Store(w.Namespace+"/"+deployment, s.server.Listener.Addr().String())
	ctx, stop := context.WithCancel(context.WithoutCancel(w.Context()))
	var mounting sync.WaitGroup
	mounting.Go(func() { s.followMount(ctx) })
	w.Cleanup(mounting.Wait)
	w.Cleanup(stop)
	return s
}

// certificate is what is mounted. A pod that starts has its volumes mounted before.
func (s *server) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil {
		return s.own, nil
	}
	if s.mounted == nil {
		var err error
		if s.mounted, err = s.mount(context.Background()); err != nil {
			return nil, err
		}
	}
	s.shown[s.mounted.Leaf.SerialNumber.String()]++
	return s.mounted, nil
}

// followMount does what a kubelet does.
func (s *server) followMount(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(mountInterval):
		}
		if pair, err := s.mount(ctx); err == nil {
			s.mu.Lock()
			s.mounted = pair
			s.mu.Unlock()
		}
	}
}

// mount reads the certificate through the volume of a pod.
func (s *server) mount(ctx context.Context) (*tls.Certificate, error) {
	var pods corev1.PodList
	if err := s.w.List(ctx, &pods, client.InNamespace(s.w.Namespace), client.MatchingLabels{"app": s.deployment}); err != nil {
		return nil, err
	}
	for i := range pods.Items {
		for _, volume := range pods.Items[i].Spec.Volumes {
			if volume.Name == "webhook-cert" && volume.Secret != nil {
				// Read the files that the libraries of operators look for.
				var secret corev1.Secret
				if err := s.w.Get(ctx, client.ObjectKey{Namespace: s.w.Namespace, Name: volume.Secret.SecretName}, &secret); err != nil {
					return nil, err
				}
				files := map[string][]byte{}
				for _, item := range volume.Secret.Items {
					files[item.Path] = secret.Data[item.Key]
				}
				pair, err := tls.X509KeyPair(files["tls.crt"], files["tls.key"])
				return &pair, err
			}
		}
	}
	return nil, fmt.Errorf("no certificate is mounted into any of the %d pods of %s", len(pods.Items), s.deployment)
}

func (s *server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked[r.URL.Path]++
	s.mu.Unlock()
	r.Body = io.NopCloser(io.LimitReader(r.Body, 8<<20))
	s.handle(rw, r)
}

// count is how often a path was asked for.
func (s *server) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[path]
}

// unasked complains when anybody has asked the server, whose pods do not run yet.
func (s *server) unasked() {
	s.w.Helper()
	for _, path := range paths {
		if s.count(path) > 0 {
			s.w.Errorf("the server of Deployment %s is asked for %s before its pods run", s.deployment, path)
		}
	}
}

// certificates are the serial numbers of the certificates that were shown.
func (s *server) certificates() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.shown)
}

// complained is what went wrong with connections.
func (s *server) complained() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.complaints
}

// endsWith ends the server when a CSV is gone. Its pods go with it, as soon as the garbage collector gets to them.
func (s *server) endsWith(csv string) {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.w.Context()))
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			err := s.w.Get(ctx, client.ObjectKey{Namespace: s.w.Namespace, Name: csv}, &v1alpha1.ClusterServiceVersion{})
			if apierrors.IsNotFound(err) {
				s.server.Close()
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	s.w.Cleanup(watching.Wait)
	s.w.Cleanup(stop)
}

// complaints takes what an HTTP server logs.
type complaints struct{ *server }

func (c complaints) Write(line []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server.complaints = append(c.server.complaints, string(line))
	return len(line), nil
}
