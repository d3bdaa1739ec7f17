package catalogsource

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// secured lets a server answer behind a certificate for localhost, and returns its address and the authority that vouches for it.
func (s *server) secured(pair tls.Certificate) string {
	s.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	go s.running.Serve(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}))
	return "localhost:" + port
}

func issue(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	issued := must.Value(serving.Issue(serving.Request{Hosts: []string{"localhost"}, Now: time.Now()}))(t)
	pair := must.Value(tls.X509KeyPair(issued.Certificate, issued.Key))(t)
	return pair, issued.CABundle
}

func withAuthority(ca []byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "authority"}, Data: map[string][]byte{"ca.crt": ca}}
}

// TestAuthoritiesOfASecret decide whether a server is believed: a server that they do not vouch for offers nothing.
func TestAuthoritiesOfASecret(t *testing.T) {
	pair, right := issue(t)
	_, wrong := issue(t)
	remote := newServer(t, good)
	certified := remote.secured(pair)
	for name, test := range map[string]struct {
		address string
		ca      []byte
		problem string // part of the message; empty when the catalog is served
	}{
		"the right authority":              {certified, right, ""},
		"the right one among two":          {certified, append(append([]byte{}, wrong...), right...), ""},
		"another authority":                {certified, wrong, "certificate"},
		"a plain server, and an authority": {remote.address, right, "speak TLS, which is required because a CA bundle is given"},
		"a plain server, and no authority": {remote.address, nil, ""},
		"what is no certificate":           {certified, []byte("x"), "the CA bundle for its certificate cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := atAddress(test.address)
			spec.Secrets = []string{"authority"}
			w := newWorld(t, source(spec), withAuthority(test.ca))
			changed := w.dialling()
			s := w.until(changed, "decided", func(s *v1alpha1.CatalogSource) bool { return len(w.packages()) > 0 || s.Status.Message != "" })
			if (len(w.packages()) > 0) != (test.problem == "") || !strings.Contains(s.Status.Message, test.problem) {
				t.Errorf("packages %v, status %+v, want %q", w.packages(), s.Status, test.problem)
			}
		})
	}
}

// TestAnAuthorityThatIsExchanged counts at once for what is read next: the connection that another one vouched for is not used any more.
func TestAnAuthorityThatIsExchanged(t *testing.T) {
	pair, right := issue(t)
	_, wrong := issue(t)
	spec := atAddress(newServer(t, good).secured(pair))
	spec.Secrets = []string{"authority"}
	w := newWorld(t, source(spec), withAuthority(right))
	changed := w.dialling()
	w.until(changed, "served", func(*v1alpha1.CatalogSource) bool { return len(w.packages()) > 0 })
	must.NoError(t, w.user(withAuthority(wrong)))
	w.until(changed, "refused", func(s *v1alpha1.CatalogSource) bool {
		w.Clock.Step(20 * time.Minute)
		return strings.Contains(s.Status.Message, "certificate")
	})
}
