package manager

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/platform"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	certs "fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
)

// announced is a ClusterCatalog whose status names content.
func announced(name string, mode olmv1.AvailabilityMode) *olmv1.ClusterCatalog {
	return &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: olmv1.ClusterCatalogSpec{AvailabilityMode: mode},
		Status: olmv1.ClusterCatalogStatus{ResolvedSource: &olmv1.ResolvedCatalogSource{Type: "Image", Image: &olmv1.ResolvedImageSource{Ref: "quay.io/a/b@sha256:one"}}}}
}

func oneObject(t *testing.T) *catalog.Index {
	t.Helper()
	c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"c.json": {Data: []byte(`{"schema":"olm.package","name":"a","defaultChannel":"b"}`)}}, catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(c, "sha256:one"))(t)
	return x
}

// serveClusterCatalogs runs the server of ClusterCatalogs in a cluster that has some, and returns where it is reached.
func serveClusterCatalogs(t *testing.T, h CatalogHTTP, objects ...client.Object) *catalogHTTP {
	t.Helper()
	return serveCatalogsWith(t, Options{CatalogHTTP: h}, objects...)
}

func serveCatalogsWith(t *testing.T, o Options, objects ...client.Object) *catalogHTTP {
	t.Helper()
	scheme := must.Value(kubeconfig.Scheme())(t)
	o.Log = logr.Discard()
	s := must.Value(openCatalogHTTP(o, catalogstore.NewSet(), nil))(t)
	s.reader, s.wait = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), 50*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

func fetch(t *testing.T, c *http.Client, url string) (int, http.Header, string) {
	t.Helper()
	response := must.Value(c.Get(url))(t)
	body, err := io.ReadAll(response.Body)
	must.NoError(t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, response.Header, string(body)
}

// TestClientsOfClusterCatalogs: what is not served is told apart from what will be in a moment.
func TestClientsOfClusterCatalogs(t *testing.T) {
	s := serveClusterCatalogs(t, CatalogHTTP{}, announced("read", ""), announced("reading", ""), announced("off", olmv1.AvailabilityModeUnavailable),
		&olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "new"}})
	s.Catalogs.Publish("read", oneObject(t))
	s.health.Set(true)
	for path, want := range map[string]int{
		"/catalogs/read/api/v1/all":             http.StatusOK,
		"/catalogs/read/api/v1/metas?package=x": http.StatusOK,
		"/catalogs/read/api/v1/metas?x=y":       http.StatusBadRequest,
		"/catalogs/read/api/v1/graphql":         http.StatusNotFound,
		"/catalogs/reading/api/v1/all":          http.StatusServiceUnavailable,
		"/catalogs/off/api/v1/all":              http.StatusNotFound,
		"/catalogs/new/api/v1/all":              http.StatusNotFound,
		"/catalogs/none/api/v1/all":             http.StatusNotFound,
		"/catalogs/BAD/api/v1/all":              http.StatusBadRequest,
		"/api/v1/all":                           http.StatusNotFound, // a name is needed, also when there is one catalog
	} {
		code, header, body := fetch(t, http.DefaultClient, s.URL+path)
		if code != want || (code == http.StatusServiceUnavailable) != (header.Get("Retry-After") != "") {
			t.Errorf("%s: %d, %v, %q; want %d", path, code, header, body, want)
		}
	}
	s.wait = time.Minute
	time.AfterFunc(50*time.Millisecond, func() { s.Catalogs.Publish("reading", oneObject(t)) })
	if code, _, body := fetch(t, http.DefaultClient, s.URL+"/catalogs/reading/api/v1/all"); code != http.StatusOK || strings.Count(body, "\n") != 1 {
		t.Errorf("whoever waits gets %d, %q", code, body)
	}
}

// TestClusterCatalogsOverTLS: with a certificate, which is exchanged while clients come.
func TestClusterCatalogsOverTLS(t *testing.T) {
	dir := t.TempDir()
	h := CatalogHTTP{Certificate: filepath.Join(dir, "crt"), Key: filepath.Join(dir, "key")}
	if _, err := openCatalogHTTP(Options{CatalogHTTP: h}, catalogstore.NewSet(), nil); err == nil || !strings.Contains(err.Error(), h.Certificate) {
		t.Errorf("files that are not there: %v", err)
	}
	issue := func() *http.Client {
		issued, err := certs.Issue(certs.Request{Hosts: []string{"localhost"}, Now: time.Now()})
		must.NoError(t, errors.Join(err, os.WriteFile(h.Certificate, issued.Certificate, 0o600), os.WriteFile(h.Key, issued.Key, 0o600)))
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(issued.CABundle)
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}, DisableKeepAlives: true}}
	}
	trusting := issue()
	modern := must.Value(platform.Choice{Name: platform.Modern}.Profile())(t)
	strict := serveCatalogsWith(t, Options{CatalogHTTP: h, TLS: platform.NewSource(modern, false)})
	for version, spoken := range map[uint16]bool{tls.VersionTLS12: false, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", strict.listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, MaxVersion: version})
		if err == nil {
			_ = conn.Close()
		}
		if (err == nil) != spoken {
			t.Errorf("%s with the profile modern: %v, should be spoken %t", tls.VersionName(version), err, spoken)
		}
	}
	s := serveClusterCatalogs(t, h)
	s.Catalogs.Publish("a", oneObject(t))
	if code, _, _ := fetch(t, trusting, s.URL+"/catalogs/a/api/v1/all"); code != http.StatusOK || !strings.HasPrefix(s.URL, "https://127.0.0.1:") {
		t.Errorf("%d at %s", code, s.URL)
	}
	renewed := issue()
	deadline := time.Now().Add(time.Minute)
	for {
		response, err := renewed.Get(s.URL + "/catalogs/a/api/v1/all")
		if err == nil {
			_ = response.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the new certificate is not used: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestRequestsAreMeasured by their code, also those that are broken off, and deadlines pass through to the connection.
func TestRequestsAreMeasured(t *testing.T) {
	requests := metrics.NewCatalogRequests()
	server := httptest.NewServer(measured(requests, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Error(err)
		}
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/broken":
			panic(http.ErrAbortHandler)
		}
	})))
	for _, path := range []string{"/", "/missing", "/broken"} {
		if response, err := http.Get(server.URL + path); err == nil {
			_ = response.Body.Close()
		}
	}
	server.Close()
	if got := testutil.CollectAndCount(requests, "catalogd_http_request_duration_seconds"); got != 2 {
		t.Errorf("%d series, want those of 200 and 404", got)
	}
}

// TestAReplicaIsReadyWithItsContent: not before it has looked for what clients expect, and whatever it found.
func TestAReplicaIsReadyWithItsContent(t *testing.T) {
	s := serveClusterCatalogs(t, CatalogHTTP{}, announced("one", ""), announced("two", ""), announced("off", olmv1.AvailabilityModeUnavailable),
		&olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "new"}})
	s.known.Publish(snapshot.CatalogRef("one"), catalogstore.Entry{Index: oneObject(t)})
	if code, _, _ := fetch(t, http.DefaultClient, s.URL+"/catalogs/none/api/v1/all"); code != http.StatusServiceUnavailable || s.health.Serving() {
		t.Errorf("it is ready too early: %d", code)
	}
	s.known.Publish(snapshot.CatalogRef("two"), catalogstore.Entry{Problem: "the registry is down"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(context.Context) (bool, error) { return s.health.Serving(), nil }) != nil {
		t.Error("it is not ready")
	}
}
