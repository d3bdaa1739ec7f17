package metrics

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/test/must"
)

// authority signs certificates.
type authority struct {
	pem         []byte
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

var serial atomic.Int64

func newAuthority(t *testing.T) authority {
	t.Helper()
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, key := sign(t, template, template, nil)
	certificate := must.Value(x509.ParseCertificate(der))(t)
	return authority{pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), certificate: certificate, key: key}
}

// sign signs a certificate, with its own key when there is no other.
func sign(t *testing.T, template, parent *x509.Certificate, by *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key := must.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	if by == nil {
		by = key
	}
	template.SerialNumber = big.NewInt(serial.Add(1))
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der := must.Value(x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by))(t)
	return der, key
}

// pair is a certificate for a server or a client, and its key, in PEM.
func (a authority) pair(t *testing.T, usage x509.ExtKeyUsage) (certificate, key []byte) {
	t.Helper()
	der, private := sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage}}, a.certificate, a.key)
	encoded := must.Value(x509.MarshalECPrivateKey(private))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded})
}

// client is a certificate that a client shows.
func (a authority) client(t *testing.T) *tls.Certificate {
	t.Helper()
	certificate := must.Value(tls.X509KeyPair(a.pair(t, x509.ExtKeyUsageClientAuth)))(t)
	return &certificate
}

// apiServer knows two tokens: that of reader, who may read metrics, and that of stranger, who may not.
func apiServer(t *testing.T) *rest.Config {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /apis/authentication.k8s.io/v1/tokenreviews", func(w http.ResponseWriter, r *http.Request) {
		answer(t, w, r, func(review *authenticationv1.TokenReview) {
			review.Status.User.Username = review.Spec.Token
			review.Status.Authenticated = review.Spec.Token == "reader" || review.Spec.Token == "stranger"
		})
	})
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", func(w http.ResponseWriter, r *http.Request) {
		answer(t, w, r, func(review *authorizationv1.SubjectAccessReview) {
			desired := review.Spec.NonResourceAttributes
			review.Status.Allowed = review.Spec.User == "reader" && desired != nil && desired.Path == "/metrics" && desired.Verb == "get"
		})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func answer[T any](t *testing.T, w http.ResponseWriter, r *http.Request, decide func(*T)) {
	var review T
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		t.Errorf("%s: %v", r.URL, err)
	}
	decide(&review)
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		t.Errorf("%s: %v", r.URL, err)
	}
}

// metrics has one series.
func metrics() prometheus.Gatherer {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "pirouettes_total"}))
	return registry
}

// serve runs a server for as long as the test.
func serve(t *testing.T, o Options) *Server {
	t.Helper()
	o.Address, o.Metrics, o.Log = "127.0.0.1:0", metrics(), logr.Discard()
	s := must.Value(Open(t.Context(), o))(t)
	ended := make(chan error, 1)
	go func() { ended <- s.Start(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil { // the context of the test has ended by now
			t.Errorf("the server has ended: %v", err)
		}
	})
	return s
}

// visitor is a client.
type visitor struct {
	trusts []byte
	shows  *tls.Certificate
	token  string
	method string
}

// get returns the status and the body of what a path answers.
func (v visitor) get(t *testing.T, s *Server, scheme, path string) (int, string, error) {
	t.Helper()
	config := &tls.Config{ServerName: "localhost", NextProtos: []string{"h2", "http/1.1"}, RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(v.trusts)
	if v.shows != nil {
		// Given whether or not the server names its authority among those that it believes.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return v.shows, nil }
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, DisableKeepAlives: true}
	request := must.Value(http.NewRequestWithContext(t.Context(), v.method, scheme+"://"+s.Addr().String()+path, nil))(t)
	if v.token != "" {
		request.Header.Set("Authorization", "Bearer "+v.token)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	must.Equal(t, "proto major", response.ProtoMajor, 1)
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	must.NoError(t, os.WriteFile(path+".new", data, 0o600))
	must.NoError(t, os.Rename(path+".new", path))
	return path
}

// files writes a certificate of an authority and, when it is not nil, the authority of clients.
func (a authority) files(t *testing.T, dir string, clients *authority) Files {
	t.Helper()
	certificate, key := a.pair(t, x509.ExtKeyUsageServerAuth)
	f := Files{Certificate: write(t, filepath.Join(dir, "tls.crt"), certificate), Key: write(t, filepath.Join(dir, "tls.key"), key)}
	if clients != nil {
		f.ClientCA = write(t, filepath.Join(dir, "clients.crt"), clients.pem)
	}
	return f
}
