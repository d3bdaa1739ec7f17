package packageserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// registrar is a registration in a cluster that is only stored.
type registrar struct {
	*Registration
	t     *testing.T
	clock *clocktesting.FakeClock
	alive map[string]bool // the addresses that answer
}

func newRegistrar(t *testing.T) *registrar {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiregistrationv1.AddToScheme} {
		must.NoError(t, add(scheme))
	}
	clock := clocktesting.NewFakeClock(began)
	c := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().Build()
	w := &registrar{t: t, clock: clock, alive: map[string]bool{}}
	w.Registration = w.another(c)
	return w
}

// another is a process that serves, too.
func (w *registrar) another(c client.Client) *Registration {
	o := RegistrationOptions{Namespace: "olm", Address: netip.MustParseAddrPort("10.0.0.7:5443"), Clock: w.clock, Log: logr.Discard()}
	return &Registration{
		options: o,
		client:  c, reader: c, engine: &rollout.Engine{Client: c, FieldManager: fieldManager}, store: o.store(c), log: logr.Discard(),
		probe: func(_ context.Context, address string, _ []byte) error {
			if w.alive[address] {
				return nil
			}
			return errors.New("nobody answers")
		},
	}
}

// request checks what the API server would: whether it believes the certificate that is shown.
func (w *registrar) request(when string) {
	w.t.Helper()
	trusted := &unstructured.Unstructured{}
	trusted.SetGroupVersionKind(w.options.apiService(nil).GroupVersionKind())
	must.NoErrorf(w.t, w.reader.Get(w.t.Context(), client.ObjectKey{Name: APIServiceName}, trusted), "%s", when)
	bundle, _, _ := unstructured.NestedString(trusted.Object, "spec", "caBundle")
	authorities := must.Value(base64.StdEncoding.DecodeString(bundle))(w.t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authorities)
	pair, err := tls.X509KeyPair(w.Provider().CurrentCertKeyContent())
	must.NoErrorf(w.t, err, "%s", when)
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: w.clock.Now(), DNSName: "fairlead-packageserver.olm.svc"})
	if err != nil {
		w.t.Errorf("%s, at %s: %v", when, w.clock.Now(), err)
	}
}

func (w *registrar) reconciles() time.Time {
	w.t.Helper()
	next := must.Value(w.reconcile(w.t.Context()))(w.t)
	return next
}

func TestSecretIsMended(t *testing.T) {
	other := must.Value(serving.Issue(serving.Request{Hosts: []string{"other.example.com"}, Now: began}))(t)
	tests := map[string]func(w *registrar, s *corev1.Secret) error{
		"deleted": func(w *registrar, s *corev1.Secret) error { return w.client.Delete(w.t.Context(), s) },
		"for another host": func(w *registrar, s *corev1.Secret) error {
			s.Data = map[string][]byte{corev1.TLSCertKey: other.Certificate, corev1.TLSPrivateKeyKey: other.Key, serving.CAKey: other.CABundle}
			return w.client.Update(w.t.Context(), s)
		},
		"of another type": func(w *registrar, s *corev1.Secret) error {
			if err := w.client.Delete(w.t.Context(), s); err != nil {
				return err
			}
			wrong := &corev1.Secret{Type: corev1.SecretTypeOpaque}
			wrong.Namespace, wrong.Name = s.Namespace, s.Name
			return w.client.Create(w.t.Context(), wrong)
		},
	}
	for name, breaks := range tests {
		t.Run(name, func(t *testing.T) {
			w := newRegistrar(t)
			must.NoError(t, w.Prepare(t.Context()))
			w.reconciles()
			before := w.Provider().Certificate()
			secret, _, err := w.store.Load(t.Context())
			must.NoError(t, err)
			must.NoError(t, breaks(w, secret))
			w.request("while the Secret is broken")
			next := w.reconciles()
			w.request("when it was mended")
			if !serving.Same(w.Provider().Certificate(), before) || !next.Equal(w.clock.Now().Add(serving.APIServerDelay)) {
				t.Errorf("a new certificate is shown before the API server knows of it; the next look is at %s", next)
			}
			w.clock.Step(serving.APIServerDelay)
			w.reconciles()
			w.request("in the end")
			_, stored, err := w.store.Load(t.Context())
			if err != nil || !serving.Same(stored.Current, w.Provider().Certificate()) || serving.Same(stored.Current, before) {
				t.Errorf("what is shown is not what is stored, or nothing new: %v", err)
			}
		})
	}
}

// TestQuietWhenNothingChanges counts what is written.
func TestQuietWhenNothingChanges(t *testing.T) {
	w := newRegistrar(t)
	must.NoError(t, w.Prepare(t.Context()))
	w.reconciles()
	before := w.versions()
	for range 24 {
		w.clock.Step(time.Hour)
		w.reconciles()
	}
	must.Equal(t, "objects were written: then", w.versions(), before)
}

// versions are the resource versions of everything.
func (w *registrar) versions() string {
	w.t.Helper()
	var all []string
	for _, phase := range w.options.phases(nil) {
		for _, o := range phase.Objects {
			live := o.Wanted.DeepCopy()
			must.NoError(w.t, w.reader.Get(w.t.Context(), client.ObjectKeyFromObject(live), live))
			all = append(all, live.GetKind()+" "+live.GetResourceVersion())
		}
	}
	secret, _, err := w.store.Load(w.t.Context())
	must.NoError(w.t, err)
	return strings.Join(append(all, "Secret "+secret.ResourceVersion), ", ")
}

// TestAnotherServerIsLeftAlone finds an APIService of somebody else: it is taken over only when that one does not answer.
func TestAnotherServerIsLeftAlone(t *testing.T) {
	for status, taken := range map[apiregistrationv1.ConditionStatus]bool{apiregistrationv1.ConditionTrue: false, apiregistrationv1.ConditionFalse: true} {
		t.Run(string(status), func(t *testing.T) {
			w := newRegistrar(t)
			theirs := &apiregistrationv1.APIService{
				Spec:   apiregistrationv1.APIServiceSpec{Service: &apiregistrationv1.ServiceReference{Namespace: "olm", Name: "packageserver-service"}},
				Status: apiregistrationv1.APIServiceStatus{Conditions: []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: status}}},
			}
			theirs.Name = APIServiceName
			must.NoError(t, w.client.Create(t.Context(), theirs))
			must.NoError(t, w.Prepare(t.Context()))
			_, err := w.reconcile(t.Context())
			if taken != (err == nil) || !taken && !strings.Contains(err.Error(), "leads to Service olm/packageserver-service, which serves packages") {
				t.Errorf("taken over should be %t: %v", taken, err)
			}
			must.NoError(t, w.withdraw(t.Context()))
			left := w.reader.Get(t.Context(), client.ObjectKeyFromObject(theirs), theirs) == nil
			if left == taken {
				t.Errorf("after this process has gone, the APIService is there: %t", left)
			}
		})
	}
}
