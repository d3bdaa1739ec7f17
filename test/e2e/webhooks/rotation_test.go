package webhooks

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
)

// TestRotation renews the certificate of a server that is asked all the time, by webhooks of every kind and an aggregated API. The server
// sees the new certificate, the authority of the old one stays trusted, and no request fails. It is not parallel: the clock of the
// manager is changed, and is right in the end.
func TestRotation(t *testing.T) {
	managers.Set(-behind)
	t.Cleanup(func() { managers.Set(0) })
	w := newWorld(t)
	s := w.serve("manager")
	w.Make(w.everywhere(), w.things(), w.operator("op.v1", fixture.Modes("AllNamespaces"), w.owns, w.hooks("manager", validating, mutating, converting), w.apis("manager", "v3")))
	before := w.Succeeds("op.v1")
	old := w.secret("manager-service-cert")
	if at := before.Status.CertsRotateAt; at == nil || at.After(time.Now()) || !at.Before(&before.CreationTimestamp) {
		t.Errorf("the certificate is to be renewed at %v, want a time in the past", at)
	}
	w.answers("v3", "manager")
	must.Eventually(w, "things to be refused", func() error { return w.judged(w.Namespace) })
	w.Make(w.thing(w.Namespace, "v1", "used", 7))
	w.conversions(s, "used")
	must.Eventually(w, "things to be mutated", func() error { return w.uses(t.Context(), "used") })
	get := w.widget("v3")
	works := []*work{
		w.busy("using things", func(ctx context.Context) error { return w.uses(ctx, "used") }),
		w.busy("being refused", func(context.Context) error { return w.judged(w.Namespace) }),
		w.busy("asking the aggregated API", func(ctx context.Context) error {
			_, err := get(ctx)
			return err
		}),
	}
	works[0].goesOn()

	w.setClock(0)
	must.Eventually(w, "the next certificate to be trusted", func() error { // What trusts nothing but what the old certificate was signed by.
		w.Helper()
		for name, trusted := range w.bundles() {
			if bytes.Equal(trusted, old.Data["olmCAKey"]) {
				return fmt.Errorf("%s does not trust it", name)
			}
		}
		return nil
	})
	for _, k := range works {
		k.goesOn() // at some time later everybody knows
	}
	if secret := w.secret("manager-service-cert"); !bytes.Equal(secret.Data["tls.crt"], old.Data["tls.crt"]) || secret.Data["next.crt"] == nil || s.certificates() != 1 {
		t.Error("the next certificate is not staged, or served as soon as it is")
	}
	w.setClock(2 * time.Minute)
	must.Eventually(w, "the certificate to be renewed", func() error {
		if secret := w.secret("manager-service-cert"); bytes.Equal(secret.Data["tls.crt"], old.Data["tls.crt"]) {
			return fmt.Errorf("it is the old one")
		}
		return nil
	})
	s.showsAnother()
	for _, k := range works {
		k.goesOn()
	}
	after := w.Succeeds("op.v1")
	for _, k := range works {
		k.neverFailed()
	}
	must.Empty(t, "the server complains", s.complained())
	if at := after.Status.CertsRotateAt; at == nil || !at.After(time.Now().Add(400*24*time.Hour)) {
		t.Errorf("the new certificate is to be renewed at %v", at)
	}
	// Check that everything that is registered trusts the new certificate and the old one.
	renewed := w.secret("manager-service-cert")
	for name, trusted := range w.bundles() {
		for age, secret := range map[string]*corev1.Secret{"new": renewed, "old": old} {
			if err := verify(secret, trusted, "manager-service."+w.Namespace+".svc"); err != nil {
				w.Errorf("%s does not trust the %s certificate: %v", name, age, err)
			}
		}
		if !bytes.Equal(trusted, renewed.Data["olmCAKey"]) {
			w.Errorf("%s has other authorities than the Secret", name)
		}
	}
}

// setClock makes the clock of the manager be right, or ahead of time, and lets the manager look at the operator. It would do so by itself at
// the time when something is due, but does not know that its clock was changed.
func (w *world) setClock(ahead time.Duration) {
	w.Helper()
	managers.Set(ahead)
	edit(w, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Annotations["example.com/ahead"] = ahead.String() })
}

// bundles are the authorities of everything that is registered.
func (w *world) bundles() map[string][]byte {
	w.Helper()
	validating, mutating := w.configurations(w.Namespace)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if !w.Read("things."+w.group, crd) || len(validating) != 1 || len(mutating) != 1 {
		w.Fatalf("registered are %v, %v", validating, mutating)
	}
	return map[string][]byte{
		"validating": validating[0].Webhooks[0].ClientConfig.CABundle,
		"mutating":   mutating[0].Webhooks[0].ClientConfig.CABundle,
		"conversion": crd.Spec.Conversion.Webhook.ClientConfig.CABundle,
		"APIService": w.registration("v3").Spec.CABundle,
	}
}

// verify says why a certificate is not trusted for a host.
func verify(secret *corev1.Secret, authorities []byte, host string) error {
	block, _ := pem.Decode(secret.Data["tls.crt"])
	if block == nil {
		return fmt.Errorf("secret %s has no certificate", secret.Name)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authorities)
	_, err = certificate.Verify(x509.VerifyOptions{Roots: pool, DNSName: host})
	return err
}

// showsAnother waits until the server shows a second certificate.
func (s *server) showsAnother() {
	s.w.Helper()
	must.Eventually(s.w, "the server to show another certificate", func() error {
		if shown := s.certificates(); shown < 2 {
			return fmt.Errorf("it showed %d certificates", shown)
		}
		return nil
	})
}
