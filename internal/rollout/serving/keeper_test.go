package serving

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"fairlead.dev/fairlead/test/must"
)

// cluster is a stored cluster with replicas that share a certificate.
type cluster struct {
	t     *testing.T
	c     client.Client
	clock *clocktesting.FakeClock
	// fail is asked before and after every write; nil lets it be.
	fail func(after bool) error
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	w := &cluster{t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	write := func(do func() error) error {
		for _, step := range []func() error{func() error { return w.fail(false) }, do, func() error { return w.fail(true) }} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}
	w.fail = func(bool) error { return nil }
	w.c = interceptor.NewClient(fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return write(func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return write(func() error { return c.Update(ctx, o, opts...) })
		},
	})
	return w
}

func (w *cluster) replica() *Keeper {
	w.t.Helper()
	k := NewKeeper(Options{Client: w.c, Namespace: "olm", Secret: "cert", Hosts: []string{"catalogs.olm.svc", "127.0.0.1"}, Clock: w.clock, Log: logr.Discard()}, "ca")
	must.NoError(w.t, k.Prepare(w.t.Context()))
	return k
}

// configMap is the published CA bundle.
func (w *cluster) configMap() *corev1.ConfigMap {
	w.t.Helper()
	published := &corev1.ConfigMap{}
	must.NoError(w.t, w.c.Get(w.t.Context(), client.ObjectKey{Namespace: "olm", Name: "ca"}, published))
	return published
}

// verify checks a served certificate as a client does that read a CA bundle.
func (w *cluster) verify(k *Keeper, bundle string) error {
	w.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(bundle))
	pair, err := tls.X509KeyPair(k.Provider().CurrentCertKeyContent())
	must.NoError(w.t, err)
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
		for _, step := range []time.Duration{20 * 24 * time.Hour, time.Minute, ConfigMapDelay, time.Minute} {
			w.clock.Step(step)
			for _, k := range replicas {
				must.Value(k.Reconcile(t.Context(), k.publish))(t)
			}
			for i, k := range replicas {
				seen[string(k.Provider().Certificate().Certificate)] = true
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

// TestKilledAtEveryWrite renews a certificate while the replica is killed at one of its writes, before or after the cluster has it. The one that
// is started next goes on. A client that read the CA bundle an hour ago trusts what is served all the time.
func TestKilledAtEveryWrite(t *testing.T) {
	killed := errors.New("killed")
	for n := 1; n <= 5; n++ {
		for _, arrives := range []bool{false, true} {
			w := newCluster(t)
			k := w.replica()
			first := k.Provider().Certificate()
			rotate := must.Value(first.RotateAt())(t)
			w.clock.SetTime(rotate)
			writes := 0
			w.fail = func(after bool) error {
				if !after {
					writes++
				}
				if writes == n && after == arrives {
					return killed
				}
				return nil
			}
			published := w.configMap().Data[CAKey]
			for range 6 {
				if _, err := k.Reconcile(t.Context(), k.publish); err != nil {
					if !errors.Is(err, killed) {
						t.Fatal(err)
					}
					k = w.replica()
				}
				if err := w.verify(k, published); err != nil {
					t.Errorf("killed at write %d (it arrives: %t): %v", n, arrives, err)
				}
				published = w.configMap().Data[CAKey]
				w.clock.Step(ConfigMapDelay)
			}
			if Same(k.Provider().Certificate(), first) {
				t.Errorf("killed at write %d (it arrives: %t): the certificate is not renewed", n, arrives)
			}
			if want := 4; n > want && writes != want {
				t.Errorf("a renewal took %d writes, want %d", writes, want)
			}
		}
	}
}

// TestFightForTheSecret ends: the served certificate stays, the error names the cause, and the certificate is issued again later.
func TestFightForTheSecret(t *testing.T) {
	w := newCluster(t)
	k := w.replica()
	served := k.Provider().Certificate()
	var err error
	for range maxReissues + 1 {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cert"}}
		must.NoError(t, w.c.Delete(t.Context(), secret))
		_, err = k.Reconcile(t.Context(), k.publish)
	}
	if err == nil || !strings.Contains(err.Error(), "another client") || !Same(k.Provider().Certificate(), served) {
		t.Errorf("it goes on: %v", err)
	}
	w.clock.Step(reissueWindow)
	if _, err := k.Reconcile(t.Context(), k.publish); err != nil {
		t.Error(err)
	}
}

// TestTheBundleIsRestored: a deleted or changed ConfigMap is written again, and nothing is written otherwise.
func TestTheBundleIsRestored(t *testing.T) {
	w := newCluster(t)
	k := w.replica()
	before := w.configMap()
	if _, err := k.Reconcile(t.Context(), k.publish); err != nil || w.configMap().ResourceVersion != before.ResourceVersion {
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
		must.NoError(t, breaks())
		if _, err := k.Reconcile(t.Context(), k.publish); err != nil || w.configMap().Data[CAKey] != before.Data[CAKey] {
			t.Errorf("%s: %v, %q", name, err, w.configMap().Data[CAKey])
		}
	}
}

// TestPrepareCreatesTheNamespace where it is missing.
func TestPrepareCreatesTheNamespace(t *testing.T) {
	w := newCluster(t)
	w.replica()
	must.NoError(t, w.c.Get(t.Context(), client.ObjectKey{Name: "olm"}, &corev1.Namespace{}))
	secret, _, err := w.replica().Load(t.Context())
	if err != nil || secret.Type != corev1.SecretTypeTLS || !strings.Contains(string(secret.Data[CAKey]), "CERTIFICATE") {
		t.Errorf("Secret %v, %v", secret, err)
	}
}
