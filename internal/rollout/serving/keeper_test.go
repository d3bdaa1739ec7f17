package serving

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// cluster is a stored cluster with replicas that share a certificate.
type cluster struct {
	t     *testing.T
	c     client.Client
	clock *clocktesting.FakeClock
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return &cluster{t: t, c: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build(), clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
}

func (w *cluster) replica() *Keeper {
	w.t.Helper()
	k := NewKeeper(Options{Client: w.c, Namespace: "olm", Secret: "cert", Hosts: []string{"catalogs.olm.svc", "127.0.0.1"}, Clock: w.clock, Log: logr.Discard()}, "ca")
	if err := k.Prepare(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return k
}

// configMap is the published CA bundle.
func (w *cluster) configMap() *corev1.ConfigMap {
	w.t.Helper()
	published := &corev1.ConfigMap{}
	if err := w.c.Get(w.t.Context(), client.ObjectKey{Namespace: "olm", Name: "ca"}, published); err != nil {
		w.t.Fatal(err)
	}
	return published
}

// verify checks a served certificate as a client does that read a CA bundle.
func (w *cluster) verify(k *Keeper, bundle string) error {
	w.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(bundle))
	pair, err := tls.X509KeyPair(k.Provider().CurrentCertKeyContent())
	if err != nil {
		w.t.Fatal(err)
	}
	var failed error
	for _, host := range []string{"catalogs.olm.svc", "127.0.0.1"} {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: w.clock.Now(), DNSName: host})
		failed = errors.Join(failed, err)
	}
	return failed
}

// TestClientsTrustWhatIsServed lets three years pass with two replicas. A client has read the CA bundle an hour ago, as a kubelet or a monitoring
// system may have, and trusts both all the time.
func TestClientsTrustWhatIsServed(t *testing.T) {
	w := newCluster(t)
	replicas := []*Keeper{w.replica(), w.replica()}
	seen := map[string]bool{}
	for old, end := w.configMap().Data[CAKey], w.clock.Now().AddDate(3, 0, 0); w.clock.Now().Before(end); {
		for _, step := range []time.Duration{20 * 24 * time.Hour, time.Minute, KeeperOverlap, time.Minute} {
			w.clock.Step(step)
			for _, k := range replicas {
				if _, err := k.reconcile(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for i, k := range replicas {
				seen[string(k.Provider().Serving().Certificate)] = true
				if err := w.verify(k, old); err != nil {
					t.Errorf("replica %d at %s: %v", i, w.clock.Now(), err)
				}
			}
			old = w.configMap().Data[CAKey]
		}
	}
	if len(seen) < 2 || len(seen) > 4 {
		t.Errorf("%d certificates were served in three years", len(seen))
	}
}

// TestTheBundleIsRestored: a deleted or changed ConfigMap is written again, and nothing is written otherwise.
func TestTheBundleIsRestored(t *testing.T) {
	w := newCluster(t)
	k := w.replica()
	before := w.configMap()
	if _, err := k.reconcile(t.Context()); err != nil || w.configMap().ResourceVersion != before.ResourceVersion {
		t.Errorf("it is written without need: %v", err)
	}
	for name, breaks := range map[string]func() error{
		"deleted": func() error { return w.c.Delete(t.Context(), w.configMap()) },
		"emptied": func() error { m := w.configMap(); m.Data = nil; return w.c.Update(t.Context(), m) },
		"replaced": func() error {
			m := w.configMap()
			m.Data[CAKey] = "nonsense"
			return w.c.Update(t.Context(), m)
		},
	} {
		if err := breaks(); err != nil {
			t.Fatal(err)
		}
		if _, err := k.reconcile(t.Context()); err != nil || w.configMap().Data[CAKey] != before.Data[CAKey] {
			t.Errorf("%s: %v, %q", name, err, w.configMap().Data[CAKey])
		}
	}
}

// TestPrepareCreatesTheNamespace where it is missing.
func TestPrepareCreatesTheNamespace(t *testing.T) {
	w := newCluster(t)
	w.replica()
	if err := w.c.Get(t.Context(), client.ObjectKey{Name: "olm"}, &corev1.Namespace{}); err != nil {
		t.Error(err)
	}
	secret, _, err := w.replica().Load(t.Context())
	if err != nil || secret.Type != corev1.SecretTypeTLS || !strings.Contains(string(secret.Data[CAKey]), "CERTIFICATE") {
		t.Errorf("Secret %v, %v", secret, err)
	}
}
