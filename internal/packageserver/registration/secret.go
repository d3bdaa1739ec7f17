package registration

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/internal/certs"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// authoritiesKey is where the Secret has the authorities that clients are to trust.
const authoritiesKey = "ca.crt"

// load reads the stored certificate; the Secret is nil when there is none.
func (r *Registration) load(ctx context.Context) (*corev1.Secret, certs.Serving, error) {
	secret := &corev1.Secret{}
	err := r.reader.Get(ctx, client.ObjectKey{Namespace: r.options.Namespace, Name: secretName}, secret)
	if apierrors.IsNotFound(err) {
		return nil, certs.Serving{}, nil
	}
	if err != nil {
		return nil, certs.Serving{}, fmt.Errorf("read the serving certificate from Secret %s/%s: %w", r.options.Namespace, secretName, err)
	}
	return secret, certs.Serving{
		Certificate: secret.Data[corev1.TLSCertKey], Key: secret.Data[corev1.TLSPrivateKeyKey], Authorities: secret.Data[authoritiesKey],
	}, nil
}

// issue makes a new certificate and stores it in the place of what was read. Of several processes that do so at once one wins, and the
// others find what it has stored.
func (r *Registration) issue(ctx context.Context, secret *corev1.Secret, stored certs.Serving) error {
	// Who still shows the certificate from before is to be believed, whatever became of the Secret.
	stored.Authorities = certs.Merge(r.options.Clock.Now(), maxTrusted, r.showing.Authorities, stored.Authorities)
	fresh, err := certs.Issue(certs.Request{Hosts: r.options.hosts(), Now: r.options.Clock.Now(), Life: r.options.Life, Old: stored})
	if err != nil {
		return err
	}
	data := map[string][]byte{corev1.TLSCertKey: fresh.Certificate, corev1.TLSPrivateKeyKey: fresh.Key, authoritiesKey: fresh.Authorities}
	if secret != nil && secret.Type != corev1.SecretTypeTLS {
		// The type of a Secret cannot be changed.
		if err := r.client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("replace Secret %s/%s, which is of another type: %w", r.options.Namespace, secretName, err)
		}
		secret = nil
	}
	if secret == nil {
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.options.Namespace, Name: secretName}, Type: corev1.SecretTypeTLS, Data: data}
		err = r.client.Create(ctx, secret, client.FieldOwner(fieldManager))
	} else {
		secret.Data = data
		err = r.client.Update(ctx, secret, client.FieldOwner(fieldManager))
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil // it is read again
	}
	if err != nil {
		return fmt.Errorf("store a serving certificate in Secret %s/%s: %w", r.options.Namespace, secretName, err)
	}
	return nil
}
