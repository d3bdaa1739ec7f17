package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const providerKey = "operators.fairlead.dev/certificate-provider"

// TestProducts installs an operator with webhooks before there is any product, with service-ca, and with cert-manager as well. Each keeps the
// certificates that it began with, whatever comes later, and nobody fights for authorities.
func TestProducts(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	w := &world{T: t, Client: harness.Client(t, devcluster.Config()), clock: &harness.Clock{}, store: t.TempDir()}
	w.manage()
	harness.Create(t, w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}})
	w.install("plain")
	w.installed("plain", 1)
	w.trusts("plain")

	w.define(apiextensionsv1.ClusterScoped, "operator.openshift.io", "v1", "ServiceCA")
	serviceCA := w.serviceCA()
	w.install("openshift")
	w.installed("openshift", 1)
	w.trusts("openshift")
	service := &corev1.Service{}
	must.NoError(w, w.Get(t.Context(), client.ObjectKey{Namespace: "openshift", Name: "openshift-service"}, service))
	must.Equal(t, "service-ca is asked for Secret", service.Annotations["service.beta.openshift.io/serving-cert-secret-name"], "openshift-service-cert")

	w.define(apiextensionsv1.NamespaceScoped, "cert-manager.io", "v1", "Certificate", "Issuer")
	certManager := w.certManager()
	certManager.idle.Store(true)
	w.install("certified")
	w.waits("certified")
	certManager.idle.Store(false)
	w.installed("certified", 1)
	w.trusts("certified")
	// Check what cert-manager is asked for.
	name := "certified"
	certificate := custom("Certificate")
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Namespace: name, Name: name + "-service-cert"}, certificate))
	host := name + "-service." + name
	want := map[string]any{"secretName": name + "-service-cert", "commonName": host, "dnsNames": []any{host, host + ".svc", host + ".svc.cluster.local"},
		"usages": []any{"server auth"}, "isCA": false, "duration": "17520h0m0s", "renewBefore": "24h0m0s",
		"issuerRef": map[string]any{"group": "cert-manager.io", "kind": "Issuer", "name": name + "-service-cert-selfsigned-issuer"}}
	must.Equal(w, "Certificate", certificate.Object["spec"], any(want))
	v := &admissionv1.ValidatingWebhookConfiguration{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: "val." + name + ".example.com"}, v))
	must.Equal(w, "authorities are asked", v.Annotations["cert-manager.io/inject-ca-from"], name+"/"+name+"-service-cert")

	for name, test := range map[string]struct {
		product  string
		injector *standin
	}{"plain": {"BuiltIn", nil}, "openshift": {"ServiceCA", serviceCA}, "certified": {"CertManager", certManager}} {
		if before := w.installed(name, 1); before.Annotations[providerKey] != test.product {
			t.Errorf("certificates of %s are made by %s", name, before.Annotations[providerKey])
		}
		w.drifts(name)
		harness.Edit(t, w, "", name, &olmv1.ClusterExtension{}, func(e *olmv1.ClusterExtension) {
			e.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: olmv1.ClusterExtensionConfigTypeInline,
				Inline: &apiextensionsv1.JSON{Raw: []byte(`{"deploymentConfig":{"env":[{"name":"A","value":"b"}]}}`)}}
		})
		if after := w.installed(name, 2); after.Annotations[providerKey] != test.product {
			t.Errorf("certificates of %s are made by %s once its configuration is another one", name, after.Annotations[providerKey])
		}
		d := &appsv1.Deployment{}
		must.NoError(w, w.Get(t.Context(), client.ObjectKey{Namespace: name, Name: name}, d))
		if env := d.Spec.Template.Spec.Containers[0].Env; len(env) == 0 || env[0].Name != "A" {
			t.Errorf("the Deployment of %s has the variables %v", name, env)
		}
		w.drifts(name)
		w.trusts(name)
		if test.injector == nil {
			continue
		}
		for object, n := range test.injector.writes(name) {
			if n != 1 {
				t.Errorf("authorities were written %d times into %s: somebody took them away", n, object)
			}
		}
	}
	if secret := w.secret("plain"); secret.Labels[olmv1.OwnerNameKey] != "plain" {
		t.Errorf("somebody else writes the certificate of plain: %v", secret.ObjectMeta)
	}
	w.restarts("plain", "openshift", "certified")
}

// restarts stops the manager and starts another one, which looks at everything and writes nothing.
func (w *world) restarts(names ...string) {
	w.Helper()
	w.settles(names...)
	w.stop()
	before := w.versions(names...)
	asked := w.manage()
	must.Eventually(w.T, "the other manager to look at what is installed", func() error {
		all := asked.All()
		for _, name := range names {
			for _, what := range []string{"/deployments/" + name, "/things." + name + ".example.com", "/val." + name + ".example.com"} {
				if !slices.ContainsFunc(all, func(r string) bool { return strings.HasSuffix(r, what) }) {
					return fmt.Errorf("it did not ask for %s", what)
				}
			}
		}
		if !slices.Contains(all, "GET /api/v1/namespaces/plain/secrets/plain-service-cert") {
			return fmt.Errorf("it did not look at the certificate of plain")
		}
		return nil
	})
	harness.Rest(w.T, asked.All)
	if writes := asked.Writes(); len(writes) > 0 {
		w.Errorf("a manager that starts writes %d times: %q", len(writes), writes)
	}
	must.Equal(w, "a manager that starts changes", w.versions(names...), before)
}

// versions are those of extensions and their revisions.
func (w *world) versions(names ...string) []string {
	w.Helper()
	var out []string
	for _, name := range names {
		ext := &olmv1.ClusterExtension{}
		must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: name}, ext))
		out = append(out, name+" "+ext.ResourceVersion)
	}
	var sets olmv1.ClusterObjectSetList
	must.NoError(w, w.List(w.Context(), &sets))
	for i := range sets.Items {
		out = append(out, sets.Items[i].Name+" "+sets.Items[i].ResourceVersion)
	}
	return out
}

// waits makes sure that an extension is not installed as long as its certificate is not there, and says so.
func (w *world) waits(name string) {
	w.Helper()
	must.Eventually(w.T, name+" to wait for its certificate", func() error {
		set := &olmv1.ClusterObjectSet{}
		if !harness.Read(w.T, w, "", name+"-1", set) {
			return fmt.Errorf("it has no revision")
		}
		c := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeAvailable)
		if c == nil || !strings.Contains(c.Message, "Certificate.cert-manager.io/v1 "+name+"/"+name+"-service-cert") || !strings.Contains(c.Message, "Ready") {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
	if harness.Read(w.T, w, name, name, &appsv1.Deployment{}) {
		w.Error("its pods are started without a certificate")
	}
	if harness.Read(w.T, w, "", "val."+name+".example.com", &admissionv1.ValidatingWebhookConfiguration{}) {
		w.Error("its webhooks are registered although nothing answers")
	}
}

// secret is the one that the pods of an extension mount. It is empty as long as nobody has written it: simulated pods do not wait for it.
func (w *world) secret(name string) *corev1.Secret {
	w.Helper()
	d, secret := &appsv1.Deployment{}, &corev1.Secret{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Namespace: name, Name: name}, d))
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.Secret != nil {
			harness.Read(w.T, w, name, v.Secret.SecretName, secret)
		}
	}
	return secret
}

// trusts waits until whatever leads to an operator trusts what its pods show.
func (w *world) trusts(name string) {
	w.Helper()
	must.Eventually(w.T, "the certificate of "+name+" to be trusted", func() error {
		block, _ := pem.Decode(w.secret(name).Data["tls.crt"])
		if block == nil {
			return fmt.Errorf("there is no certificate")
		}
		leaf, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return err
		}
		for what, ca := range w.bundles(name) {
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(ca)
			if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name + "-service." + name + ".svc"}); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
		return nil
	})
}

// drifts changes what is wanted of the objects with authorities, and waits until that is put right. The authorities stay.
func (w *world) drifts(name string) {
	w.Helper()
	before := w.bundles(name)
	wrong := admissionv1.Fail
	harness.Edit(w.T, w, "", "val."+name+".example.com", &admissionv1.ValidatingWebhookConfiguration{}, func(v *admissionv1.ValidatingWebhookConfiguration) {
		v.Webhooks[0].FailurePolicy = &wrong
	})
	harness.Edit(w.T, w, "", "mut."+name+".example.com", &admissionv1.MutatingWebhookConfiguration{}, func(m *admissionv1.MutatingWebhookConfiguration) {
		m.Webhooks[0].FailurePolicy = &wrong
	})
	harness.Edit(w.T, w, "", "things."+name+".example.com", &apiextensionsv1.CustomResourceDefinition{}, func(d *apiextensionsv1.CustomResourceDefinition) {
		d.Labels[olmv1.OwnerNameKey] = "wrong"
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, "example.com/mine", "stays")
	})
	must.Eventually(w.T, "what was changed of "+name+" to be put right", func() error {
		v, m, d := &admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.MutatingWebhookConfiguration{}, &apiextensionsv1.CustomResourceDefinition{}
		must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: "val." + name + ".example.com"}, v))
		must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: "mut." + name + ".example.com"}, m))
		must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: "things." + name + ".example.com"}, d))
		if *v.Webhooks[0].FailurePolicy == wrong || *m.Webhooks[0].FailurePolicy == wrong || d.Labels[olmv1.OwnerNameKey] != name {
			return fmt.Errorf("it is not")
		}
		return nil
	})
	if after := w.bundles(name); !maps.EqualFunc(before, after, func(a, b []byte) bool { return string(a) == string(b) }) {
		w.Errorf("the authorities of %s have changed when other fields were put right", name)
	}
}

// settles waits until extensions are as they are to be, and earlier revisions are archived.
func (w *world) settles(names ...string) {
	w.Helper()
	must.Eventually(w.T, "everything to be done", func() error {
		for _, name := range names {
			ext := &olmv1.ClusterExtension{}
			must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: name}, ext))
			c := meta.FindStatusCondition(ext.Status.Conditions, olmv1.TypeProgressing)
			if c == nil || c.Reason != olmv1.ReasonSucceeded || len(ext.Status.ActiveRevisions) != 1 {
				return fmt.Errorf("%s: %+v", name, ext.Status)
			}
		}
		var sets olmv1.ClusterObjectSetList
		must.NoError(w, w.List(w.Context(), &sets))
		for _, set := range sets.Items {
			if set.Spec.LifecycleState == olmv1.LifecycleStateArchived && !meta.IsStatusConditionFalse(set.Status.Conditions, olmv1.TypeProgressing) {
				return fmt.Errorf("%s: %+v", set.Name, set.Status.Conditions)
			}
		}
		return nil
	})
}
