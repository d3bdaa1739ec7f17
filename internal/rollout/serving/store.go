package serving

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// CAKey is the key of the CA bundle, in Secrets and in ConfigMaps.
	CAKey = "ca.crt"
	// maxTrusted bounds the certificates of a CA bundle.
	maxTrusted = 8
	// attempts bounds how often a certificate is stored before the Secret is taken for one that another client owns.
	attempts = 3
)

// Options describe a certificate.
type Options struct {
	Client client.Client
	// Namespace and Secret name the Secret that holds the certificate. Name is the name of the server in logs.
	Namespace, Secret, Name string
	// Hosts are the DNS names of the server.
	Hosts []string
	// Life is that of certificates; DefaultLife when zero.
	Life time.Duration
	// Overlap is how long the CA bundle of a new certificate is published before the certificate is served.
	Overlap      time.Duration
	Clock        clock.PassiveClock
	FieldManager string
	Log          logr.Logger
}

// Store keeps one certificate in its Secret. It is not safe for concurrent use; its Provider is.
type Store struct {
	o        Options
	provider *Provider
	showing  shown
}

// NewStore returns a store that has read nothing.
func NewStore(o Options) *Store {
	return &Store{o: o, provider: &Provider{name: o.Name}}
}

// Provider is what the server serves. It has content after Show.
func (s *Store) Provider() *Provider { return s.provider }

// Load reads the stored certificate; the Secret is nil when it does not exist.
func (s *Store) Load(ctx context.Context) (*corev1.Secret, Certificate, error) {
	secret := &corev1.Secret{}
	err := s.o.Client.Get(ctx, client.ObjectKey{Namespace: s.o.Namespace, Name: s.o.Secret}, secret)
	if apierrors.IsNotFound(err) {
		return nil, Certificate{}, nil
	}
	if err != nil {
		return nil, Certificate{}, fmt.Errorf("read the serving certificate from Secret %s/%s: %w", s.o.Namespace, s.o.Secret, err)
	}
	return secret, Certificate{
		Certificate: secret.Data[corev1.TLSCertKey], Key: secret.Data[corev1.TLSPrivateKeyKey], CABundle: secret.Data[CAKey],
	}, nil
}

// Settle reads the stored certificate, and issues one until a good one is stored. It returns the stored certificate, the one to serve and when
// to call it again. The caller publishes the CA bundle (Trusted) before it calls Show.
func (s *Store) Settle(ctx context.Context) (stored, show Certificate, next time.Time, err error) {
	var why error
	for range attempts {
		secret, stored, err := s.Load(ctx)
		if err != nil {
			return Certificate{}, Certificate{}, time.Time{}, err
		}
		now := s.o.Clock.Now()
		if Same(stored, s.showing.Certificate) {
			s.showing.outdated = time.Time{}
		} else if s.showing.outdated.IsZero() {
			s.showing.outdated = now
		}
		d := decide(stored, s.showing, s.o.Hosts, now, s.o.Overlap)
		if d.issue == nil {
			return stored, d.show, d.next, nil
		}
		why = d.issue
		s.o.Log.Info("issuing a serving certificate", "reason", why.Error())
		if err := s.issue(ctx, secret, stored); err != nil {
			return Certificate{}, Certificate{}, time.Time{}, err
		}
	}
	return Certificate{}, Certificate{}, time.Time{}, fmt.Errorf("store a serving certificate in Secret %s/%s: another client changes it as soon as it is written, and then: %w; "+
		"metadata.managedFields of the Secret names that client: stop it from writing", s.o.Namespace, s.o.Secret, why)
}

// Trusted is the CA bundle that clients need while certificates are exchanged: of the stored certificate, of the served one, and of what was
// published already, because another replica may still serve that. So all replicas publish the same in the end.
func (s *Store) Trusted(stored Certificate, published []byte) []byte {
	return Sort(Merge(s.o.Clock.Now(), maxTrusted, stored.CABundle, s.showing.CABundle, published))
}

// Show exchanges the certificate that is served.
func (s *Store) Show(c Certificate) {
	if Same(c, s.showing.Certificate) {
		return
	}
	s.provider.set(c)
	s.showing = shown{Certificate: c}
}

// issue stores a new certificate in the place of what was read. Of several processes that do so at once one wins, and the others find what it
// has stored.
func (s *Store) issue(ctx context.Context, secret *corev1.Secret, stored Certificate) error {
	// Clients must trust a replica that still serves the certificate from before, whatever became of the Secret.
	stored.CABundle = Merge(s.o.Clock.Now(), maxTrusted, s.showing.CABundle, stored.CABundle)
	fresh, err := Issue(Request{Hosts: s.o.Hosts, Now: s.o.Clock.Now(), Life: s.o.Life, Old: stored})
	if err != nil {
		return err
	}
	data := map[string][]byte{corev1.TLSCertKey: fresh.Certificate, corev1.TLSPrivateKeyKey: fresh.Key, CAKey: fresh.CABundle}
	if secret != nil && secret.Type != corev1.SecretTypeTLS {
		// The type of a Secret cannot be changed.
		if err := s.o.Client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("replace Secret %s/%s, which is of another type: %w", s.o.Namespace, s.o.Secret, err)
		}
		secret = nil
	}
	if secret == nil {
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.o.Namespace, Name: s.o.Secret}, Type: corev1.SecretTypeTLS, Data: data}
		err = s.o.Client.Create(ctx, secret, client.FieldOwner(s.o.FieldManager))
	} else {
		secret.Data = data
		err = s.o.Client.Update(ctx, secret, client.FieldOwner(s.o.FieldManager))
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil // the next attempt reads what is stored
	}
	if err != nil {
		return fmt.Errorf("store a serving certificate in Secret %s/%s: %w", s.o.Namespace, s.o.Secret, err)
	}
	return nil
}
