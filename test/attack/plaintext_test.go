package attack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reader is a client in a pod of a tenant: it reaches the manager's ports, and knows what every pod may know.
type reader struct {
	t     testing.TB
	trust []byte // a CA bundle; none trusts nothing
	token string
	host  string // the name in the certificate
}

func (r reader) get(url string) (int, string, error) {
	r.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(r.trust)
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: r.host, MinVersion: tls.VersionTLS12}}
	request := must.Value(http.NewRequestWithContext(r.t.Context(), http.MethodGet, url, nil))(r.t)
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// TestMetricsAndCatalogsNeedTLS: a pod of a tenant reads no metrics, neither over HTTP nor over HTTPS with its own token, and no one between a
// client and a ClusterCatalog can read or change what is served. The manager has no certificate files: this is how it comes.
func TestMetricsAndCatalogsNeedTLS(t *testing.T) {
	w := newWorld(t)
	metrics, catalogs := harness.FreeAddress(t), harness.FreeAddress(t)
	w.run(func(o *manager.Options) {
		o.MetricsAddress, o.CatalogHTTP = metrics, manager.CatalogHTTP{Address: catalogs, URL: "https://fairlead-catalogs.olm.svc"}
	})
	namespace := w.namespace("attack-metrics")
	tenant, prometheus := w.token(namespace, "tenant"), w.token(namespace, "prometheus")
	ca := &corev1.ConfigMap{}
	must.NoError(t, w.Get(t.Context(), client.ObjectKey{Namespace: olm, Name: "outside-pod-" + manager.ServingCA}, ca))
	bundle := []byte(ca.Data["ca.crt"])
	// Give an account what the manifests for monitoring give Prometheus.
	w.t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: namespace}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: namespace},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "prometheus"}}}
	harness.Create(w.t, w, role, binding)
	w.t.Cleanup(func() { _, _ = w.Delete(context.Background(), role), w.Delete(context.Background(), binding) })
	for name, test := range map[string]struct {
		by     reader
		url    string
		status int // 0: no answer over a connection that is trusted
		body   string
	}{
		"metrics over HTTP":                    {reader{}, "http://" + metrics + "/metrics", 400, "HTTP request to an HTTPS server"},
		"metrics, no token":                    {reader{trust: bundle, host: "localhost"}, "https://" + metrics + "/metrics", 401, "bearer token"},
		"metrics, the token of a tenant":       {reader{trust: bundle, host: "localhost", token: tenant}, "https://" + metrics + "/metrics", 403, "may not get /metrics"},
		"profiles, the token of a tenant":      {reader{trust: bundle, host: "localhost", token: tenant}, "https://" + metrics + "/debug/pprof/heap", 403, "client certificate"},
		"metrics for Prometheus":               {reader{trust: bundle, host: manager.MetricsService + ".olm.svc", token: prometheus}, "https://" + metrics + "/metrics", 200, "csv_count"},
		"health":                               {reader{trust: bundle, host: "localhost"}, "https://" + metrics + "/healthz", 200, ""},
		"catalogs over HTTP":                   {reader{}, "http://" + catalogs + "/catalogs/none/api/v1/all", 400, "HTTP request to an HTTPS server"},
		"catalogs, a client with the CA":       {reader{trust: bundle, host: "fairlead-catalogs.olm.svc"}, "https://" + catalogs + "/catalogs/none/api/v1/all", 404, ""},
		"catalogs, a client that trusts other": {reader{host: "fairlead-catalogs.olm.svc"}, "https://" + catalogs + "/catalogs/none/api/v1/all", 0, "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			test.by.t = t
			must.Eventually(t, "the answer", func() error { // rights of an account take a moment
				status, body, err := test.by.get(test.url)
				if err != nil {
					body = err.Error()
				}
				if status != test.status || !strings.Contains(body, test.body) {
					return fmt.Errorf("%d, %.200s; want %d, %q", status, body, test.status, test.body)
				}
				return nil
			})
		})
	}
	w.bind(olm, "eve", "view")
	eve := harness.ClientOf(t, w.as("eve"))
	if err := eve.Get(t.Context(), client.ObjectKey{Namespace: olm, Name: "outside-pod-" + manager.ServingCA}, ca); err != nil {
		t.Errorf("who may read the namespace reads no CA bundle: %v", err)
	}
	if err := eve.Get(t.Context(), client.ObjectKey{Namespace: olm, Name: "outside-pod-" + manager.ServingSecret}, &corev1.Secret{}); err == nil {
		t.Error("who may read the namespace reads the key")
	}
}

// token makes a service account and returns a token of it.
func (w *world) token(namespace, name string) string {
	w.t.Helper()
	a := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	harness.Create(w.t, w, a)
	var token authenticationv1.TokenRequest
	must.NoError(w.t, w.SubResource("token").Create(w.t.Context(), a, &token))
	return token.Status.Token
}
