package ops

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	"fairlead.dev/fairlead/internal/rollout/serving"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ownServingSecret is the Secret with the certificate of the manager's own metrics and catalogs.
const ownServingSecret = "fairlead-manager-serving-cert"

// soon is the part of the life of a certificate, and at most how long before its end, from which on its end is near: renewed in time, it is
// replaced long before.
const (
	soonPart = 10
	soonMost = 7 * 24 * time.Hour
)

// served is a certificate that a Secret holds.
type served struct {
	secret string
	leaf   *x509.Certificate
	// others are what comes with it in the Secret.
	others  *x509.CertPool
	managed bool // by the manager
}

// certificateExam examines the certificates of what the API server asks Services for.
type certificateExam struct{ servedAPIs }

// certificates examines those of webhooks and APIServices: their ends, and whether the CA bundles that clients have verify them.
func (e certificateExam) certificates(ctx context.Context, c *Check) {
	references := e.hooks(ctx, c)
	_, aggregated := e.aggregated(ctx, c)
	references = append(references, aggregated...)
	secrets := map[string][]served{}
	for _, r := range references {
		if r.insecure {
			continue
		}
		namespace := r.service.Namespace
		if _, asked := secrets[namespace]; !asked {
			secrets[namespace] = e.servedIn(ctx, c, namespace)
		}
		host := r.service.Name + "." + namespace + ".svc"
		var candidates []served
		for _, s := range secrets[namespace] {
			if s.leaf.VerifyHostname(host) == nil {
				candidates = append(candidates, s)
			}
		}
		e.judge(c, r, host, candidates)
	}
	e.ownCertificate(ctx, c)
	c.Summary = fmt.Sprintf("those of %d webhooks and APIs are valid, as far as Secrets hold them", len(references))
}

// judge examines the certificates that a Service may serve. One that is as it should be is enough: others are left over.
func (e certificateExam) judge(c *Check, r reference, host string, candidates []served) {
	roots, newest := pool(r.bundle)
	if len(r.bundle) > 0 && newest == nil {
		c.fail(r.name(), "write a CA bundle in PEM, or let what wrote it do so again", "its caBundle holds no certificate")
		return
	}
	if len(candidates) == 0 && newest != nil && e.now().After(newest.NotAfter) {
		c.fail(r.name(), "let what wrote it renew it; for an operator of Fairlead the manager does, see that one runs", "all certificates of its caBundle have expired, the last at %s", at(newest.NotAfter))
		return
	}
	var problems []func()
	for _, s := range candidates {
		_, err := s.leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: s.others, CurrentTime: e.now()})
		switch {
		case e.ends(s.leaf) != "":
			problems = append(problems, func() { c.fail(s.secret, s.renew(), "the certificate for %s %s", host, e.ends(s.leaf)) })
		case err != nil:
			problems = append(problems, func() {
				c.fail(r.name(), "have its caBundle written again: "+s.renew(), "its caBundle does not verify the certificate of %s: %v", s.secret, err)
			})
		default:
			return
		}
	}
	for _, report := range problems {
		report()
	}
}

// renew is how a certificate is replaced.
func (s served) renew() string {
	if s.managed {
		return "the manager renews it and writes the CA bundles: see that one runs; to have another one at once, delete " + s.secret
	}
	return "renew it by what issued it, such as cert-manager (kubectl get certificates -A), which writes the CA bundles too"
}

// ends is what is wrong with the time of a certificate; empty when nothing is.
func (e certificateExam) ends(leaf *x509.Certificate) string { return endOf(leaf, e.now()) }

// endOf is what is wrong with the time of a certificate at a time; empty when nothing is.
func endOf(leaf *x509.Certificate, now time.Time) string {
	left := leaf.NotAfter.Sub(now)
	switch {
	case left <= 0:
		return "has expired at " + at(leaf.NotAfter)
	case now.Before(leaf.NotBefore):
		return "is not valid before " + at(leaf.NotBefore)
	case left < min(soonMost, leaf.NotAfter.Sub(leaf.NotBefore)/soonPart):
		return "expires soon, at " + at(leaf.NotAfter)
	}
	return ""
}

func at(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// servedIn are the certificates that the Secrets of a namespace hold.
func (e certificateExam) servedIn(ctx context.Context, c *Check, namespace string) []served {
	var found []served
	for next := ""; ; {
		var secrets corev1.SecretList
		if !c.read("Secrets of namespace "+namespace, e.Client.List(ctx, &secrets, client.InNamespace(namespace), client.Limit(page), client.Continue(next))) {
			return found
		}
		for i := range secrets.Items {
			if s, ok := servedBy(&secrets.Items[i]); ok {
				found = append(found, s)
			}
		}
		if next = secrets.Continue; next == "" {
			return found
		}
	}
}

// servedBy is the certificate of a Secret, if it holds one.
func servedBy(secret *corev1.Secret) (served, bool) {
	s := served{secret: "Secret " + client.ObjectKeyFromObject(secret).String(), others: x509.NewCertPool()}
	for _, certificate := range serving.Certificates(secret.Data[corev1.TLSCertKey]) {
		if s.leaf == nil {
			s.leaf = certificate
		} else {
			s.others.AddCert(certificate)
		}
	}
	s.managed = secret.Labels["olm.managed"] == "true" || secret.Labels["operators.fairlead.dev/serving-certificate"] != "" || secret.Name == ownServingSecret
	return s, s.leaf != nil
}

// pool is a CA bundle, and the certificate of it that is valid longest. Nothing is trusted by an empty one.
func pool(bundle []byte) (roots *x509.CertPool, newest *x509.Certificate) {
	roots = x509.NewCertPool()
	for _, certificate := range serving.Certificates(bundle) {
		roots.AddCert(certificate)
		if newest == nil || certificate.NotAfter.After(newest.NotAfter) {
			newest = certificate
		}
	}
	return roots, newest
}

// ownCertificate examines that of the manager's metrics and catalogs.
func (e certificateExam) ownCertificate(ctx context.Context, c *Check) {
	namespace, name := e.own()
	var secret corev1.Secret
	err := e.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ownServingSecret}, &secret)
	if apierrors.IsNotFound(err) || !c.read("Secrets of namespace "+namespace, err) {
		return
	}
	if s, ok := servedBy(&secret); ok && e.ends(s.leaf) != "" {
		c.fail(s.secret, fmt.Sprintf("%s; then kubectl -n %s rollout restart deployment %s", s.renew(), namespace, name), "the certificate of the manager's metrics and catalogs %s", e.ends(s.leaf))
	}
}
