package catalogtest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// standin answers for the webhooks and aggregated APIs of operators whose pods are simulated, with their serving certificates: it allows what it is asked about,
// converts custom resources by their apiVersion alone, and serves APIs without resources. So what fails is the certificate or the way to it.
type standin struct {
	reader   client.Reader
	server   *http.Server
	listener net.Listener

	mu      sync.Mutex
	secrets map[types.NamespacedName]string // by Service
}

func newStandin(reader client.Reader) (*standin, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen in the place of the webhooks of operators: %w", err)
	}
	s := &standin{reader: reader, listener: listener, secrets: map[types.NamespacedName]string{}}
	s.server = &http.Server{Handler: http.HandlerFunc(s.answer), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		_ = s.server.Serve(tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certificate})) // it ends with close
	}()
	return s, nil
}

func (s *standin) address() string { return s.listener.Addr().String() }

func (s *standin) close() { _ = s.server.Close() } // the process ends soon, too

// serve has a Service answered with the certificate of a Secret in its namespace.
func (s *standin) serve(namespace, service, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets[types.NamespacedName{Namespace: namespace, Name: service}] = secret
}

// certificate is that of the Service that is called, SERVICE.NAMESPACE.svc.
func (s *standin) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	service, rest, _ := strings.Cut(hello.ServerName, ".")
	namespace, _, _ := strings.Cut(rest, ".")
	s.mu.Lock()
	name, known := s.secrets[types.NamespacedName{Namespace: namespace, Name: service}]
	s.mu.Unlock()
	if !known {
		return nil, fmt.Errorf("no operator of the test has a Service %s", hello.ServerName)
	}
	ctx, cancel := context.WithTimeout(hello.Context(), 5*time.Second)
	defer cancel()
	var secret corev1.Secret
	if err := s.reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &secret); err != nil {
		return nil, fmt.Errorf("read the serving certificate of Service %s: %w", hello.ServerName, err)
	}
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	return &pair, err
}

// review is a request or an answer of a webhook, as far as the stand-in reads it.
type review struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Request    struct {
		UID               types.UID        `json:"uid"`
		DesiredAPIVersion string           `json:"desiredAPIVersion"`
		Objects           []map[string]any `json:"objects"`
	} `json:"request"`
}

// maxReview bounds what is read of a request.
const maxReview = 64 << 20

func (s *standin) answer(w http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodGet {
		version := strings.Trim(strings.TrimPrefix(request.URL.Path, "/apis"), "/")
		write(w, map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": []any{}})
		return
	}
	var asked review
	if err := json.NewDecoder(io.LimitReader(request.Body, maxReview)).Decode(&asked); err != nil {
		http.Error(w, "the request is no review: "+err.Error(), http.StatusBadRequest)
		return
	}
	response := map[string]any{"uid": asked.Request.UID, "allowed": true}
	if asked.Kind == "ConversionReview" {
		for _, object := range asked.Request.Objects {
			object["apiVersion"] = asked.Request.DesiredAPIVersion
		}
		response = map[string]any{"uid": asked.Request.UID, "convertedObjects": asked.Request.Objects, "result": map[string]string{"status": "Success"}}
	}
	write(w, map[string]any{"apiVersion": asked.APIVersion, "kind": asked.Kind, "response": response})
}

func write(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the caller sees that it was cut short
}
