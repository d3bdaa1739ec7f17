package image

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// newTLSRegistry starts a registry with a certificate of its own, for names
// that are not loopback ones: 0.0.0.0, which leads there all the same, and
// registry.test. It returns the registry by its non-loopback name, and its
// certificate in PEM.
func newTLSRegistry(t testing.TB) (*testRegistry, []byte) {
	t.Helper()
	r, certificate, _ := newStrictRegistry(t, tls.NoClientCert)
	return r, certificate
}

// newStrictRegistry is newTLSRegistry, but clients may have to show the same
// certificate, whose key is returned as well.
func newStrictRegistry(t testing.TB, clients tls.ClientAuthType) (r *testRegistry, certificate, privateKey []byte) {
	t.Helper()
	key := must.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.IPv4zero}, DNSNames: []string{"registry.test"},
	}
	der := must.Value(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	parsed := must.Value(x509.ParseCertificate(der))(t)
	keyDER := must.Value(x509.MarshalECPrivateKey(key))(t)
	known := x509.NewCertPool()
	known.AddCert(parsed)
	r = &testRegistry{}
	r.Server = httptest.NewUnstartedServer(r.handler())
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, ClientAuth: clients, ClientCAs: known}
	r.StartTLS()
	t.Cleanup(r.Close)
	_, port, _ := net.SplitHostPort(r.Listener.Addr().String())
	r.host = "0.0.0.0:" + port
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return r, certificate, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
}

// fill pushes an image with one file "a" to the registry.
func (r *testRegistry) fill(t testing.TB, cfg Config, repository, content string) string {
	t.Helper()
	files := must.Value(Files(map[string][]byte{"a": []byte(content)}))(t)
	d := must.Value(Push(context.Background(), r.host+"/"+repository, files, nil, PushOptions{Config: cfg}))(t)
	return d
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.NoError(t, os.WriteFile(path, data, 0o600))
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	r, ca := newTLSRegistry(t)
	_, otherCA := newTLSRegistry(t)
	trusting := t.TempDir()
	writeFile(t, filepath.Join(trusting, r.host, "ca.crt"), ca)
	r.fill(t, Config{CertsDir: trusting}, "test/image:v1", "content")

	tests := map[string]struct {
		files    map[string][]byte // of CertsDir
		insecure []string
		kind     Kind
	}{
		"no CA":                     {nil, nil, Untrusted},
		"the CA for this host":      {map[string][]byte{r.host + "/ca.crt": ca}, nil, ""},
		"the CA for another host":   {map[string][]byte{"quay.io/ca.crt": ca}, nil, Untrusted},
		"the CA for all hosts":      {map[string][]byte{"ca.crt": ca}, nil, ""},
		"another CA for this host":  {map[string][]byte{r.host + "/ca.crt": otherCA, "ca.crt": ca}, nil, Untrusted},
		"insecure by configuration": {nil, []string{r.host}, ""},
		"every host is insecure":    {nil, []string{AnyHost}, ""},
		"another host is insecure":  {nil, []string{"quay.io"}, Untrusted},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := Config{CertsDir: t.TempDir(), Insecure: tt.insecure}
			for path, data := range tt.files {
				writeFile(t, filepath.Join(cfg.CertsDir, path), data)
			}
			_, err := openStore(t, cfg).Pull(context.Background(), r.host+"/test/image:v1", PullOptions{})
			if KindOf(err) != tt.kind {
				t.Errorf("pull: %v, want kind %q", err, tt.kind)
			}
			files, _ := Files(nil)
			if _, err := Push(context.Background(), r.host+"/test/pushed:v1", files, nil, PushOptions{Config: cfg}); KindOf(err) != tt.kind {
				t.Errorf("push: %v, want kind %q", err, tt.kind)
			}
		})
	}
}

// TestClientCertificates: a registry that wants to know who asks.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	r, certificate, key := newStrictRegistry(t, tls.RequireAndVerifyClientCert)
	cfg := Config{CertsDir: t.TempDir()}
	writeFile(t, filepath.Join(cfg.CertsDir, r.host, "ca.crt"), certificate)
	files, _ := Files(map[string][]byte{"a": []byte("content")})
	if _, err := Push(context.Background(), r.host+"/test/image:v1", files, nil, PushOptions{Config: cfg}); KindOf(err) != Unavailable {
		t.Errorf("push without a certificate: %v, want %s", err, Unavailable)
	}
	writeFile(t, filepath.Join(cfg.CertsDir, r.host, "client.cert"), certificate)
	if _, err := openStore(t, cfg).Pull(context.Background(), r.host+"/test/image:v1", PullOptions{}); KindOf(err) == "" {
		t.Errorf("pull with a certificate without its key: %v", err)
	}
	writeFile(t, filepath.Join(cfg.CertsDir, r.host, "client.key"), key)
	r.fill(t, cfg, "test/image:v1", "content")
	if _, files := pullFiles(t, openStore(t, cfg), r.host+"/test/image:v1", PullOptions{}); files["a"] != "content" {
		t.Errorf("pull with a certificate: %v", files)
	}
}

func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.fill(t, Config{}, "test/image:v1", "content")
	elsewhere := "0.0.0.0" + r.host[strings.LastIndex(r.host, ":"):]

	if _, err := openStore(t, Config{}).Pull(context.Background(), elsewhere+"/test/image:v1", PullOptions{}); KindOf(err) != Untrusted {
		t.Errorf("pull without TLS from another host than loopback: %v, want %s", err, Untrusted)
	}
	files, _ := Files(nil)
	if _, err := Push(context.Background(), elsewhere+"/test/pushed:v1", files, nil, PushOptions{}); KindOf(err) != Untrusted {
		t.Errorf("push without TLS to another host than loopback: %v, want %s", err, Untrusted)
	}
	cfg := Config{Insecure: []string{elsewhere}}
	if _, files := pullFiles(t, openStore(t, cfg), elsewhere+"/test/image:v1", PullOptions{}); files["a"] != "content" {
		t.Errorf("pull from an insecure host: %v", files)
	}
	if _, err := Push(context.Background(), elsewhere+"/test/pushed:v1", files, nil, PushOptions{Config: cfg}); err != nil {
		t.Errorf("push to an insecure host: %v", err)
	}
}

func TestRedirectsKeepTLS(t *testing.T) {
	t.Parallel()
	clear := newTestRegistry(t)
	r, ca := newTLSRegistry(t)
	cfg := Config{CertsDir: t.TempDir()}
	writeFile(t, filepath.Join(cfg.CertsDir, r.host, "ca.crt"), ca)
	d := r.fill(t, cfg, "test/image:v1", "content")
	clear.fill(t, Config{}, "test/image:v1", "content")
	r.fault(onPath("/blobs/", func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, clear.URL+req.URL.Path, http.StatusTemporaryRedirect)
	}))
	_, err := openStore(t, cfg).Pull(context.Background(), r.host+"/test/image@"+d, PullOptions{})
	if KindOf(err) != Untrusted || !strings.Contains(err.Error(), clear.host+" without TLS") {
		t.Errorf("pull: %v, want %s", err, Untrusted)
	}
	files, _ := Files(map[string][]byte{"a": []byte("new content")})
	_, err = Push(context.Background(), r.host+"/test/image:v2", files, nil, PushOptions{Config: cfg})
	if KindOf(err) != Untrusted || !strings.Contains(err.Error(), clear.host+" without TLS") {
		t.Errorf("push: %v, want %s", err, Untrusted)
	}
}

func TestProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	r, ca := newTLSRegistry(t)
	certs := t.TempDir()
	for _, host := range []string{r.host, "registry.test"} {
		writeFile(t, filepath.Join(certs, host, "ca.crt"), ca)
	}
	r.fill(t, Config{CertsDir: certs}, "test/image:v1", "content")
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodConnect || req.Host != "registry.test:443" {
			http.Error(w, "not for me", http.StatusBadGateway)
			return
		}
		asked.Add(1)
		tunnel(t, w, r.Listener.Addr().String())
	}))
	defer proxy.Close()

	cmd, out := child(t, openStore(t, Config{}), "registry.test/test/image:v1", childCerts+"="+certs, "HTTPS_PROXY="+proxy.URL)
	if err := cmd.Wait(); err != nil || out.String() != "content" {
		t.Errorf("pull through a proxy: %v, %s", err, out)
	}
	if asked.Load() == 0 {
		t.Error("the proxy was not asked")
	}
}

// tunnel connects the client behind w with the address to.
func tunnel(t *testing.T, w http.ResponseWriter, to string) {
	server, err := net.Dial("tcp", to)
	if err != nil {
		t.Error(err)
		return
	}
	client, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		t.Error(err)
		return
	}
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
}
