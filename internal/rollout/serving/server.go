package serving

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// CAKey is the key of the CA bundle, in Secrets and in ConfigMaps.
	CAKey = "ca.crt"
	// maxTrusted bounds the certificates of a CA bundle.
	maxTrusted = 8
	// attempts bounds the steps of one pass.
	attempts = 3
)

// Options describe the certificate of a server of our own.
type Options struct {
	Client client.Client
	// Namespace and Secret name the Secret that holds the certificate. Name is the name of the server in logs.
	Namespace, Secret, Name string
	// Hosts are the DNS names of the server.
	Hosts []string
	// Life is that of certificates; DefaultLife when zero.
	Life time.Duration
	// Delay is how long clients have to pick up the CA bundle of a certificate before it is served.
	Delay        time.Duration
	Clock        clock.PassiveClock
	FieldManager string
	Log          logr.Logger
}

// Store keeps one certificate in its Secret, which all replicas of a server share. It is not safe for concurrent use; its Provider is.
type Store struct {
	o        Options
	provider *Provider
	issues   Issues
	// incoming is the certificate that takes the place of the served one, and since when this replica publishes its CA bundle.
	incoming Certificate
	since    time.Time
}

// NewStore returns a store that has read nothing.
func NewStore(o Options) *Store {
	return &Store{o: o, provider: &Provider{name: o.Name}}
}

// Provider is what the server serves. It has content after Prepare.
func (s *Store) Provider() *Provider { return s.provider }

// Load reads the stored certificates; the Secret is nil when it does not exist.
func (s *Store) Load(ctx context.Context) (*corev1.Secret, State, error) {
	secret := &corev1.Secret{}
	err := s.o.Client.Get(ctx, client.ObjectKey{Namespace: s.o.Namespace, Name: s.o.Secret}, secret)
	if client.IgnoreNotFound(err) != nil {
		return nil, State{}, fmt.Errorf("read the serving certificate from Secret %s/%s: %w", s.o.Namespace, s.o.Secret, err)
	}
	state := Read(secret, CAKey)
	state.Hosts, state.Delay = s.o.Hosts, s.o.Delay
	state.Issued = s.issues.Recent(client.ObjectKey{Namespace: s.o.Namespace, Name: s.o.Secret}, s.o.Clock.Now())
	if err != nil {
		secret = nil
	}
	return secret, state, nil
}

// Prepare stores a certificate where there is none that can be used, and serves it.
func (s *Store) Prepare(ctx context.Context) error {
	_, state, _, err := s.settle(ctx)
	if err == nil {
		s.provider.set(state.Current)
	}
	return err
}

// Reconcile takes the steps that are due and returns when to reconcile again. publish gives clients the CA bundle that merge makes of the one
// that is published; nothing is served before that which clients may not trust.
func (s *Store) Reconcile(ctx context.Context, publish func(ctx context.Context, merge func(published []byte) []byte) error) (time.Time, error) {
	secret, state, next, err := s.settle(ctx)
	if err != nil {
		return time.Time{}, err
	}
	now, served := s.o.Clock.Now(), s.provider.Certificate()
	// Another replica may still serve what was published already. All replicas publish the same in the end.
	if err := publish(ctx, func(published []byte) []byte {
		return Sort(Merge(now, maxTrusted, state.Trusted(now), served.CABundle, published))
	}); err != nil {
		return time.Time{}, err
	}
	if next.Step == StepPublish {
		switch state, err = s.take(ctx, secret, state, StepPublish); {
		case apierrors.IsConflict(err): // another replica was faster
			return now.Add(time.Second), nil
		case err != nil:
			return time.Time{}, err
		}
		next = state.Next(now)
	}
	incoming := state.Current
	if state.IsStaged(now) {
		incoming = state.Staged
	}
	if !Same(incoming, s.incoming) {
		s.incoming, s.since = incoming, now
	}
	ripe := s.since.Add(s.o.Delay)
	switch {
	case Same(state.Current, served):
	case served.Check(s.o.Hosts, now) != nil, Same(state.Current, s.incoming) && !now.Before(ripe):
		s.provider.set(state.Current)
	case ripe.Before(next.At): // the Secret was lost, or another replica was faster to promote: clients need their time all the same
		return ripe, nil
	}
	return next.At, nil
}

// settle reads the stored certificates and takes all steps but the publication.
func (s *Store) settle(ctx context.Context) (*corev1.Secret, State, Decision, error) {
	var next Decision
	for range attempts {
		secret, state, err := s.Load(ctx)
		if err != nil {
			return nil, State{}, next, err
		}
		switch next = state.Next(s.o.Clock.Now()); next.Step {
		case StepKeep, StepPublish:
			return secret, state, next, nil
		case StepLimited:
			if err := state.Current.Check(s.o.Hosts, s.o.Clock.Now()); err != nil {
				return nil, State{}, next, fmt.Errorf("store a serving certificate in Secret %s/%s: %w", s.o.Namespace, s.o.Secret, next.Reason)
			}
			s.o.Log.Error(next.Reason, "the serving certificate is not renewed; the one that is served stays until it expires")
			return secret, state, next, nil
		}
		s.o.Log.Info("changing the serving certificate", "step", next.Step, "reason", next.Reason.Error())
		if _, err := s.take(ctx, secret, state, next.Step); err != nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return nil, State{}, next, err
		}
	}
	return nil, State{}, next, fmt.Errorf("store a serving certificate in Secret %s/%s: another client changes it as soon as it is written, and then: %w; "+
		"metadata.managedFields of the Secret names that client: stop it from writing", s.o.Namespace, s.o.Secret, next.Reason)
}

// take stores the state after a step in the place of what was read. Of several replicas that do so at once one wins, and the others get a
// conflict.
func (s *Store) take(ctx context.Context, secret *corev1.Secret, state State, step Step) (State, error) {
	now := s.o.Clock.Now()
	// Clients must trust a replica that still serves the certificate from before, whatever became of the Secret.
	old := state.Current
	old.CABundle = Merge(now, maxTrusted, s.provider.Certificate().CABundle, old.CABundle)
	state, err := state.After(step, Request{Now: now, Life: s.o.Life, Old: old})
	if err != nil {
		return state, err
	}
	if secret != nil && secret.Type != corev1.SecretTypeTLS { // the type of a Secret cannot be changed
		if err := s.o.Client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID}); client.IgnoreNotFound(err) != nil {
			return state, fmt.Errorf("replace Secret %s/%s, which is of another type: %w", s.o.Namespace, s.o.Secret, err)
		}
		secret = nil
	}
	write := func() error { return s.o.Client.Update(ctx, secret, client.FieldOwner(s.o.FieldManager)) }
	if secret == nil {
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.o.Namespace, Name: s.o.Secret}, Type: corev1.SecretTypeTLS}
		write = func() error { return s.o.Client.Create(ctx, secret, client.FieldOwner(s.o.FieldManager)) }
	}
	state.Write(secret, CAKey)
	if err := write(); err != nil {
		return state, fmt.Errorf("store a serving certificate in Secret %s/%s: %w", s.o.Namespace, s.o.Secret, err)
	}
	if step == StepIssue || step == StepStage {
		s.issues.Record(client.ObjectKeyFromObject(secret), now)
	}
	return state, nil
}

// Provider is what a server serves, exchanged while it runs. It is empty before Store.Prepare.
type Provider struct {
	name      string
	mu        sync.RWMutex
	current   Certificate
	listeners []dynamiccertificates.Listener
}

var _ dynamiccertificates.CertKeyContentProvider = &Provider{}

// Name is the name of the certificate in logs.
func (p *Provider) Name() string { return p.name }

// CurrentCertKeyContent is the certificate and its key.
func (p *Provider) CurrentCertKeyContent() (certificate, key []byte) {
	c := p.Certificate()
	return c.Certificate, c.Key
}

// AddListener registers a listener for changes of the certificate.
func (p *Provider) AddListener(l dynamiccertificates.Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listeners = append(p.listeners, l)
}

// Certificate is the certificate with its CA bundle.
func (p *Provider) Certificate() Certificate {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.current
}

// set exchanges the certificate.
func (p *Provider) set(c Certificate) {
	p.mu.Lock()
	p.current = c
	listeners := p.listeners
	p.mu.Unlock()
	for _, l := range listeners {
		l.Enqueue()
	}
}
