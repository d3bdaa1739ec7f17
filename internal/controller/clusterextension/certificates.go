package clusterextension

import (
	"context"
	"encoding/json"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/certs"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Keys of the Secrets with serving certificates besides those that Kubernetes defines. The next certificate waits in its Secret until
// everybody trusts it: a manager that starts goes on from there.
const (
	authoritiesData = "ca.crt"
	nextCertificate = "next.crt"
	nextKey         = "next.key"
)

// servingOf lists the certificates that a revision needs.
func servingOf(r *olmv1.ClusterObjectSet) ([]registryv1.Serving, error) {
	var all []registryv1.Serving
	if r == nil || r.Annotations[servingKey] == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(r.Annotations[servingKey]), &all); err != nil {
		return nil, fmt.Errorf("read annotation %s of revision %s: %w", servingKey, r.Name, err)
	}
	return all, nil
}

// keepCertificates looks after the certificates that the newest revision needs: it makes those that are missing or cannot be used, and
// renews those whose time has come. A renewed one is announced first, by another revision that trusts its authority too; only when that
// is rolled out, pods get to see it.
func (c *Controller) keepCertificates(ctx context.Context, s *state, o *outcome) (authorities, error) {
	newest := s.revisions.newest()
	serving, err := servingOf(newest)
	if err != nil || len(serving) == 0 {
		return nil, err
	}
	found := authorities{}
	var all []*certificate
	for _, one := range serving {
		certificate, err := c.ensure(ctx, s.ext, one)
		if err != nil {
			return nil, err
		}
		found[one.Service] = certificate.current.Authorities
		all = append(all, certificate)
		if at, err := certificate.current.RotateAt(); err == nil {
			o.soonest(max(at.Sub(c.Clock.Now()), recheck))
		}
	}
	if s.revisions.installed() != newest || !found.trustedBy(newest) {
		return found, nil
	}
	for _, certificate := range all {
		if err := c.showNext(ctx, certificate); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// certificate is a serving certificate in its Secret.
type certificate struct {
	serving registryv1.Serving
	secret  *corev1.Secret
	current certs.Serving // with the authorities of the next one, too
	next    certs.Serving // without a certificate when none is waiting
}

// ensure reads a certificate. One that cannot be used is made anew; one that is due gets a successor, which waits.
func (c *Controller) ensure(ctx context.Context, ext *olmv1.ClusterExtension, serving registryv1.Serving) (*certificate, error) {
	at := client.ObjectKey{Namespace: ext.Spec.Namespace, Name: serving.Secret}
	secret := &corev1.Secret{}
	if err := c.live.Get(ctx, at, secret); err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read Secret %s with the serving certificate of Deployment %s: %w", at, serving.Deployment, err)
	}
	if secret.ResourceVersion != "" && secret.Labels[olmv1.OwnerNameKey] != ext.Name {
		return nil, fmt.Errorf("secret %s is there already and is not that of ClusterExtension %s, which needs it for the serving certificate of Deployment %s: delete it",
			at, ext.Name, serving.Deployment)
	}
	d := secret.Data
	one := &certificate{serving: serving, secret: secret,
		current: certs.Serving{Certificate: d[corev1.TLSCertKey], Key: d[corev1.TLSPrivateKeyKey], Authorities: d[authoritiesData]},
		next:    certs.Serving{Certificate: d[nextCertificate], Key: d[nextKey], Authorities: d[authoritiesData]}}
	now := c.Clock.Now()
	switch {
	case one.current.Check(serving.Hosts, now) != nil:
		return one, c.issue(ctx, ext, one, func(fresh certs.Serving) { one.current, one.next = fresh, certs.Serving{} })
	case one.current.Due(serving.Hosts, now) != nil && one.next.Check(serving.Hosts, now) != nil:
		return one, c.issue(ctx, ext, one, func(fresh certs.Serving) {
			one.next, one.current.Authorities = fresh, fresh.Authorities
		})
	}
	return one, nil
}

func (c *Controller) issue(ctx context.Context, ext *olmv1.ClusterExtension, one *certificate, take func(certs.Serving)) error {
	fresh, err := certs.Issue(certs.Request{Hosts: one.serving.Hosts, Now: c.Clock.Now(), Old: one.current})
	if err != nil {
		return err
	}
	take(fresh)
	one.secret.Namespace, one.secret.Name, one.secret.Type = ext.Spec.Namespace, one.serving.Secret, corev1.SecretTypeTLS
	one.secret.Labels = servingLabels(ext.Name)
	one.secret.OwnerReferences = []metav1.OwnerReference{ownerOf(ext)}
	return c.save(ctx, one)
}

// showNext lets pods have the certificate that waits.
func (c *Controller) showNext(ctx context.Context, one *certificate) error {
	if len(one.next.Certificate) == 0 {
		return nil
	}
	one.current, one.next = one.next, certs.Serving{}
	return c.save(ctx, one)
}

// save writes the Secret. Somebody else's write in between is an error: then that one is looked at.
func (c *Controller) save(ctx context.Context, one *certificate) error {
	one.secret.Data = map[string][]byte{corev1.TLSCertKey: one.current.Certificate, corev1.TLSPrivateKeyKey: one.current.Key, authoritiesData: one.current.Authorities}
	if len(one.next.Certificate) > 0 {
		one.secret.Data[nextCertificate], one.secret.Data[nextKey] = one.next.Certificate, one.next.Key
	}
	write := func() error { return c.client.Update(ctx, one.secret, fieldOwner) }
	if one.secret.ResourceVersion == "" {
		write = func() error { return c.client.Create(ctx, one.secret, fieldOwner) }
	}
	if err := write(); err != nil {
		return fmt.Errorf("write Secret %s/%s with the serving certificate of Deployment %s: %w", one.secret.Namespace, one.secret.Name, one.serving.Deployment, err)
	}
	return nil
}

func servingLabels(extension string) map[string]string {
	return map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: extension, servingLabel: "true"}
}

// dropCertificates deletes them with their extension: garbage collection would do so, too, but may take its time.
func (c *Controller) dropCertificates(ctx context.Context, ext *olmv1.ClusterExtension) error {
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := c.live.List(ctx, all, client.InNamespace(ext.Spec.Namespace), client.MatchingLabels(servingLabels(ext.Name))); err != nil {
		return fmt.Errorf("list the serving certificates of ClusterExtension %s: %w", ext.Name, err)
	}
	for i := range all.Items {
		one := &all.Items[i]
		if err := client.IgnoreNotFound(c.client.Delete(ctx, one, client.Preconditions{UID: &one.UID})); err != nil {
			return fmt.Errorf("delete Secret %s/%s with a serving certificate of ClusterExtension %s: %w", one.Namespace, one.Name, ext.Name, err)
		}
	}
	return nil
}
