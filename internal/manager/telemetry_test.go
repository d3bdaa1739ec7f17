package manager

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/metrics"
	certs "fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// telling is where the manager of the tests tells of itself, over HTTPS, and authorities who vouches for it there.
var (
	telling     = freeAddress()
	authorities []byte
)

// metricsFiles makes a certificate for localhost.
func metricsFiles(dir string) (metrics.Files, error) {
	f := metrics.Files{Certificate: filepath.Join(dir, "metrics.crt"), Key: filepath.Join(dir, "metrics.key")}
	issued, err := certs.Issue(certs.Request{Hosts: []string{"localhost"}, Now: time.Now()})
	authorities = issued.CABundle
	return f, errors.Join(err, os.WriteFile(f.Certificate, issued.Certificate, 0o600), os.WriteFile(f.Key, issued.Key, 0o600))
}

// metrics returns what somebody with a token gets.
func (w *world) metrics(token string) (int, string, error) {
	w.t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authorities)
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{ServerName: "localhost", RootCAs: pool, MinVersion: tls.VersionTLS12}}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "https://"+telling+"/metrics", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// TestWhoReadsMetrics is decided by the API server: by tokens, and by the verb get on the path /metrics.
func TestWhoReadsMetrics(t *testing.T) {
	w := newWorld(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "prometheus"}}
	w.create(account)
	var token authenticationv1.TokenRequest
	must.NoError(t, w.client.SubResource("token").Create(t.Context(), account, &token))
	for name, test := range map[string]struct {
		token  string
		status int
	}{"nobody": {"", 401}, "a token that was made up": {"x.y.z", 401}, "an account without rights": {token.Status.Token, 403}} {
		if status, body, err := w.metrics(test.token); err != nil || status != test.status {
			t.Errorf("%s: %d, %v, want %d: %s", name, status, err, test.status, body)
		}
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-metrics"}, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: account.Name}}}
	w.create(role, binding)
	w.eventually("the account to read metrics", func() error {
		status, body, err := w.metrics(token.Status.Token)
		if err == nil && (status != 200 || !strings.Contains(body, "\ncsv_count ") || !strings.Contains(body, "\ncatalog_source_count ")) {
			err = fmt.Errorf("%d: %.300s", status, body)
		}
		return err
	})
}
