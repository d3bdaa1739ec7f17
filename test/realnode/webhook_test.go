package realnode

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/keyutil"

	"fairlead.dev/fairlead/test/must"
)

// selfSigned makes a certificate for a DNS name.
func (w *world) selfSigned(host string) (cert, key []byte) {
	w.Helper()
	private := must.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(w)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der := must.Value(x509.CreateCertificate(rand.Reader, template, template, private.Public(), private))(w)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), must.Value(keyutil.MarshalPrivateKeyToPEM(private))(w)
}

// refuseBadNames lets a pod judge every ConfigMap of a namespace.
func (w *world) refuseBadNames(namespace string) {
	w.Helper()
	cert, key := w.selfSigned("judge." + namespace + ".svc")
	w.serve(namespace, "judge", 1, corev1.EnvVar{Name: "CERT", Value: string(cert)}, corev1.EnvVar{Name: "KEY", Value: string(key)})
	fail, none := admission.Fail, admission.SideEffectClassNone
	must.Value(w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(w.Context(), &admission.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "realnode"},
		Webhooks: []admission.ValidatingWebhook{{
			Name: "judge.fairlead.dev", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admission.WebhookClientConfig{CABundle: cert, Service: &admission.ServiceReference{Namespace: namespace, Name: "judge"}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			Rules: []admission.RuleWithOperations{{
				Operations: []admission.OperationType{admission.Create},
				Rule:       admission.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}, metav1.CreateOptions{}))(w)
}
