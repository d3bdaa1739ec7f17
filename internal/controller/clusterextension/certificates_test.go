package clusterextension

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/serving"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hooked is a webhook configuration that leads to a Service.
func hooked(service string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": "hook"}, "webhooks": []any{map[string]any{"name": "v.example.com",
			"clientConfig": map[string]any{"service": map[string]any{"name": service, "namespace": "ns"}}}}}}
}

var served = registryv1.Serving{Deployment: "op", Service: "op-service", Secret: "op-service-cert", Hosts: []string{"op-service.ns.svc"}}

func newServingWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, want("my", "a", ""))
	w.serving = []registryv1.Serving{served}
	w.extra["a.v1.0.0"] = []*unstructured.Unstructured{hooked("op-service")}
	w.serve("cat", pkg("a", "1.0.0"))
	return w
}

// secret is that of the certificate.
func (w *world) secret() *corev1.Secret {
	w.t.Helper()
	s := &corev1.Secret{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "ns", Name: served.Secret}, s))
	return s
}

// shown is what pods serve with, and what the webhook configuration of the newest revision trusts.
func (w *world) shown() (shown serving.Certificate, trusted []byte) {
	w.t.Helper()
	data := w.secret().Data
	shown = serving.Certificate{Certificate: data["tls.crt"], Key: data["tls.key"]}
	for _, bundle := range serving.Injected(w.objects(), "ns", served.Service) {
		trusted = bundle
	}
	shown.CABundle = trusted
	return shown, trusted
}

// TestCertificates are there before the revision, and trusted by it; a pass that changes nothing writes nothing.
func TestCertificates(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	shown, _ := w.shown()
	if err := shown.Check(served.Hosts, w.clock.Now()); err != nil {
		t.Errorf("the webhook configuration does not trust the certificate: %v", err)
	}
	if !metav1.IsControlledBy(w.secret(), w.extension("my")) {
		t.Error("the Secret does not go with the extension")
	}
	if result := w.pass("my"); result.RequeueAfter < 24*time.Hour {
		t.Errorf("looked at again after %s", result.RequeueAfter)
	}
}

// TestLostCertificate is replaced.
func TestLostCertificate(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	lost, _ := w.shown()
	w.must(w.client.Delete(t.Context(), w.secret()))
	w.settle("my")
	shown, trusted := w.shown()
	if err := shown.Check(served.Hosts, w.clock.Now()); err != nil {
		t.Error(err)
	}
	if lost.CABundle = trusted; lost.Check(served.Hosts, w.clock.Now()) != nil {
		t.Error("pods that still serve the one before are not trusted")
	}
}

// TestForeignSecret is not touched.
func TestForeignSecret(t *testing.T) {
	w := newServingWorld(t)
	w.add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: served.Secret}, Data: map[string][]byte{"mine": []byte("x")}})
	if _, err := w.controller.Reconcile(t.Context(), requestFor("my")); err == nil {
		t.Error("it is no error")
	}
	w.expect("my", "Progressing", "True/Retrying: secret ns/op-service-cert is there already and is not that of ClusterExtension my, which needs it for the serving certificate of Deployment op: delete it")
	must.Equal(t, "it was changed", string(w.secret().Data["mine"]), "x")
}

// TestLongName: an extension whose name no label can hold has certificates, an OperatorCondition and revisions like any other, and all go with it.
func TestLongName(t *testing.T) {
	name := strings.Repeat("long.", 40) + "name"
	w := newWorld(t, want(name, "a", ""))
	w.serving = []registryv1.Serving{served}
	condition := conditionFor("one")
	condition.SetName(name)
	w.extra["a.v1.0.0"] = []*unstructured.Unstructured{hooked("op-service"), condition}
	w.serve("cat", pkg("a", "1.0.0"))
	w.settle(name)
	w.expectInstalled(name, "a.v1.0.0")
	if got := ownerOfRevision(t.Context(), w.newest(name)); len(got) != 1 || got[0] != requestFor(name) {
		t.Errorf("its revision leads to %v", got)
	}
	var conditions v2.OperatorConditionList
	w.must(w.client.List(t.Context(), &conditions))
	for _, o := range []client.Object{w.newest(name), w.secret(), &conditions.Items[0]} {
		for key, value := range o.GetLabels() {
			must.Empty(t, "label "+key, validation.IsValidLabelValue(value))
		}
	}
	w.remove(name)
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: served.Secret}, &corev1.Secret{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the Secret is still there: %v", err)
	}
}

// TestCertificatesGo with their extension.
func TestCertificatesGo(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	w.remove("my")
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: served.Secret}, &corev1.Secret{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the Secret is still there: %v", err)
	}
}

// TestRollbackTrustsTheCertificateOfNow, not that of when the revision was made.
func TestRollbackTrustsTheCertificateOfNow(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	w.must(w.client.Delete(t.Context(), w.secret()))
	w.settle("my")
	w.configure("my", `{"x":1}`)
	w.settle("my")
	w.annotate("my", desired.RollbackToKey, "1")
	w.settle("my")
	shown, _ := w.shown()
	if err := shown.Check(served.Hosts, w.clock.Now()); err != nil {
		t.Errorf("%v after %v", err, names(w.revisions("my")))
	}
}

// TestProviderStays when another one appears, and goes when its product is gone. No other revision is made because of products.
func TestProviderStays(t *testing.T) {
	const builtIn, serviceCA, certManager = registryv1.BuiltIn, registryv1.ServiceCA, registryv1.CertManager
	type list = []registryv1.CertificateProvider
	for first, test := range map[registryv1.CertificateProvider]struct {
		stays    []list // whatever these are
		gone, to list
	}{
		builtIn:     {[]list{{certManager, builtIn}, nil, {serviceCA, builtIn}, {certManager, serviceCA, builtIn}}, nil, nil},
		serviceCA:   {[]list{{certManager, serviceCA, builtIn}, nil}, list{certManager, builtIn}, list{certManager}},
		certManager: {[]list{{certManager, serviceCA, builtIn}, nil}, list{builtIn}, list{builtIn}},
	} {
		w := newWorld(t, want("my", "a", ""))
		w.serve("cat", pkg("a", "1.0.0"))
		w.providers = list{first, builtIn}
		w.settle("my")
		for _, there := range test.stays {
			w.providers = there
			w.settle("my")
			if got := w.newest("my"); got.Annotations[desired.ProviderKey] != string(first) || got.Spec.Revision != 1 {
				t.Errorf("%s: revision %d is of %s when there are %s", first, got.Spec.Revision, got.Annotations[desired.ProviderKey], there)
			}
		}
		if test.gone == nil {
			continue
		}
		w.providers = test.gone
		w.settle("my")
		must.Equal(t, "annotations", w.newest("my").Annotations[desired.ProviderKey], string(test.to[0]))
	}
}

// TestSecretOfAProductThatIsGone is adopted: that of another client is not.
func TestSecretOfAProductThatIsGone(t *testing.T) {
	for _, annotations := range []map[string]string{{"cert-manager.io/certificate-name": served.Secret}, {"service.beta.openshift.io/originating-service-name": served.Service}} {
		w := newServingWorld(t)
		left := serving.Request{Hosts: served.Hosts, Now: w.clock.Now()}
		theirs, err := serving.Issue(left)
		w.must(err)
		w.add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: served.Secret, Annotations: annotations}, Type: corev1.SecretTypeTLS,
			Data: map[string][]byte{"tls.crt": theirs.Certificate, "tls.key": theirs.Key, "ca.crt": theirs.CABundle}})
		w.settle("my")
		shown, _ := w.shown()
		if err := shown.Check(served.Hosts, w.clock.Now()); err != nil || !metav1.IsControlledBy(w.secret(), w.extension("my")) {
			t.Errorf("%v: %v; owned by %v", annotations, err, w.secret().OwnerReferences)
		}
	}
}

// TestDamagedSecret is put right, whatever of it was damaged, and whoever watches Secrets is told whose it is.
func TestDamagedSecret(t *testing.T) {
	for name, damage := range map[string]func(*corev1.Secret){
		"certificate": func(s *corev1.Secret) { s.Data["tls.crt"] = []byte("x") },
		"key":         func(s *corev1.Secret) { delete(s.Data, "tls.key") },
		"authorities": func(s *corev1.Secret) { s.Data["ca.crt"] = nil },
		"labels":      func(s *corev1.Secret) { s.Labels = nil },
		"owner":       func(s *corev1.Secret) { s.OwnerReferences = nil },
	} {
		w := newServingWorld(t)
		w.settle("my")
		before := w.secret()
		if got := keptFor(t.Context(), before); len(got) != 1 || got[0] != requestFor("my") {
			t.Errorf("%s: the Secret leads to %v", name, got)
		}
		damaged := before.DeepCopy()
		damage(damaged)
		w.must(w.client.Update(t.Context(), damaged))
		w.settle("my")
		after := w.secret()
		shown, _ := w.shown()
		if err := shown.Check(served.Hosts, w.clock.Now()); err != nil || !labels.SelectorFromSet(before.Labels).Matches(labels.Set(after.Labels)) || !metav1.IsControlledBy(after, w.extension("my")) {
			t.Errorf("%s: %v; labels %v, owners %v", name, err, after.Labels, after.OwnerReferences)
		}
	}
}

// kinds are those of a cluster, which may not answer.
type kinds struct {
	meta.RESTMapper
	err error
}

func (k *kinds) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if k.err != nil {
		return nil, k.err
	}
	return k.RESTMapper.RESTMapping(kind, versions...)
}

var (
	certManagerKind = schema.GroupKind{Group: "cert-manager.io", Kind: "Certificate"}
	serviceCAKind   = schema.GroupKind{Group: "operator.openshift.io", Kind: "ServiceCA"}
)

// TestProviders are found by their kinds. A cluster that does not answer says nothing about them.
func TestProviders(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: serviceCAKind.Group, Version: "v1"}, {Group: certManagerKind.Group, Version: "v1"}})
	cluster := &kinds{RESTMapper: mapper, err: errGone}
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	p := &providers{kinds: cluster, clock: clock}
	for _, step := range []struct {
		what string
		do   func()
		want []registryv1.CertificateProvider
	}{
		{"no answer", func() {}, nil},
		{"neither", func() { cluster.err = nil }, []registryv1.CertificateProvider{registryv1.BuiltIn}},
		{"service-ca, a minute later", func() {
			mapper.Add(serviceCAKind.WithVersion("v1"), meta.RESTScopeRoot)
			clock.Step(providersLife)
		}, []registryv1.CertificateProvider{registryv1.ServiceCA, registryv1.BuiltIn}},
		{"both", func() {
			mapper.Add(certManagerKind.WithVersion("v1"), meta.RESTScopeNamespace)
			clock.Step(providersLife)
		}, []registryv1.CertificateProvider{registryv1.CertManager, registryv1.ServiceCA, registryv1.BuiltIn}},
		{"no answer any more", func() {
			cluster.err = errGone
			clock.Step(providersLife)
		}, []registryv1.CertificateProvider{registryv1.CertManager, registryv1.ServiceCA, registryv1.BuiltIn}},
	} {
		step.do()
		if got := p.get(t.Context()); !slices.Equal(got, step.want) {
			t.Errorf("%s: %q, want %q", step.what, got, step.want)
		}
	}
}
