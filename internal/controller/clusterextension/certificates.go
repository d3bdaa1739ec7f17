package clusterextension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/internal/rollout/serving"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxInherited bounds the authorities of a certificate that was lost which stay trusted.
const maxInherited = 2

// certificate is a serving certificate in its Secret.
type certificate struct {
	serving.State
	need   registryv1.Serving
	secret *corev1.Secret
}

// certificates are the serving certificates of all extensions.
type certificates struct {
	*environment
	writer *writer
	issued serving.Issues
}

// keeper keeps the certificates of one extension in their Secrets.
type keeper struct {
	client client.Client
	live   client.Reader
	clock  clock.PassiveClock
	issued *serving.Issues
	ext    *olmv1.ClusterExtension
	newest *olmv1.ClusterObjectSet // nil when there is no revision
}

func (c *certificates) keeper(s *state) *keeper {
	return &keeper{client: c.client, live: c.live, clock: c.Clock, issued: &c.issued, ext: s.ext, newest: s.revisions.Newest()}
}

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

// keepUp maintains what goes with the newest revision and is no part of it: certificates and the OperatorCondition. It comes before any
// decision, so that certificates are renewed whatever blocks an upgrade.
func (c *Controller) keepUp(ctx context.Context, s *state, o *outcome) error {
	newest := s.revisions.Newest()
	if newest == nil {
		return nil
	}
	return errors.Join(c.keepCondition(ctx, s.ext, newest), c.certificates.maintain(ctx, s, newest, o))
}

// keepCertificates carries out the steps of the certificates that pods serve with. The clients of a certificate are objects of the newest
// revision: a staged one is published by another revision, and promoted when that one has been rolled out for a while.
func (c *certificates) maintain(ctx context.Context, s *state, newest *olmv1.ClusterObjectSet, o *outcome) error {
	k := c.keeper(s)
	if installed := s.revisions.Installed(); installed != nil && installed != newest {
		if _, _, err := k.of(ctx, installed, o); err != nil { // its pods run until the newest one is rolled out
			return err
		}
	}
	found, all, err := k.of(ctx, newest, o)
	switch {
	case err != nil:
		return err
	case !(newest == nil || newest.Annotations[authoritiesKey] == found.digest()):
		// Make a revision that repeats the newest one, of the same bundle, configuration and account, and trusts other authorities. It
		// passes no gate: it installs nothing that is not there.
		objects, err := revision.Objects(ctx, c.client, newest)
		if err != nil {
			return fmt.Errorf("read revision %s, to let its objects trust other certificates: %w", newest.Name, err)
		}
		o.reason = "its objects have to trust another certificate"
		notes := maps.Clone(newest.Annotations)
		delete(notes, revision.DigestKey)
		delete(notes, revision.ServiceAccountKey)
		notes[authoritiesKey] = found.digest()
		if s.ext.Annotations[desired.RollbackToKey] != "" && notes[desired.CopyKey] == "" {
			notes[desired.CopyKey] = newest.Name
		}
		_, account, _ := strings.Cut(newest.Annotations[revision.ServiceAccountKey], "/")
		return c.writer.write(ctx, s, revision.Options{Objects: serving.Inject(objects, s.ext.Spec.Namespace, found), Annotations: notes, ServiceAccount: account,
			ProgressDeadlineMinutes: newest.Spec.ProgressDeadlineMinutes}, o)
	case s.revisions.Installed() != newest:
		return nil
	}
	var since time.Time // when all objects of the revision were rolled out
	if succeeded := meta.FindStatusCondition(newest.Status.Conditions, olmv1.TypeSucceeded); succeeded != nil {
		since = succeeded.LastTransitionTime.Time
	}
	var needed []registryv1.Serving
	for _, one := range all {
		now := c.Clock.Now()
		one.TrustedSince = since
		switch next := one.Next(now); next.Step {
		case serving.StepPromote:
			if err := k.take(ctx, one, next.Step); err != nil {
				return err
			}
		case serving.StepKeep:
			o.soonest(max(next.At.Sub(now), time.Second))
		case serving.StepLimited:
			return fmt.Errorf("renew the serving certificate of Deployment %s in Secret %s/%s: %w", one.need.Deployment, one.secret.Namespace, one.secret.Name, next.Reason)
		}
		needed = append(needed, one.need)
	}
	return c.drop(ctx, c.secrets, s.ext, needed)
}

// of are the certificates of a revision, which can be used, and what clients of its Services have to trust.
func (k *keeper) of(ctx context.Context, r *olmv1.ClusterObjectSet, o *outcome) (authorities, []*certificate, error) {
	needed, err := servingOf(r)
	if err != nil {
		return nil, nil, err
	}
	found := authorities{}
	var all []*certificate
	for _, need := range needed {
		one, err := k.ensure(ctx, need)
		if err != nil {
			return nil, nil, err
		}
		found[need.Service] = one.Trusted(k.clock.Now())
		all = append(all, one)
		if at, err := one.Current.RotateAt(); err == nil {
			o.soonest(max(at.Sub(k.clock.Now()), recheck))
		}
	}
	if r == nil || r != k.newest || r.Annotations[authoritiesKey] == found.digest() {
		return found, all, nil
	}
	return found, all, k.join(ctx, found, all)
}

// join lets certificates that another client has put in the place of those that the objects of the newest revision trust be trusted besides them.
func (k *keeper) join(ctx context.Context, found authorities, all []*certificate) error {
	objects, err := revision.Objects(ctx, k.client, k.newest)
	if revision.Lost(err) {
		return nil // what it trusts is not known
	} else if err != nil {
		return fmt.Errorf("read revision %s, for the CA bundles that its objects trust: %w", k.newest.Name, err)
	}
	for _, one := range all {
		joined, untrusted := one.Join(k.clock.Now(), serving.Injected(objects, k.ext.Spec.Namespace, one.need.Service)...)
		if !untrusted {
			continue
		}
		one.State = joined
		if err := k.save(ctx, one); err != nil {
			return err
		}
		found[one.need.Service] = one.Trusted(k.clock.Now())
	}
	return nil
}

// ensure reads a certificate. One that cannot be used is issued again; one that is due gets a successor, which is staged.
func (k *keeper) ensure(ctx context.Context, need registryv1.Serving) (*certificate, error) {
	at, now := client.ObjectKey{Namespace: k.ext.Spec.Namespace, Name: need.Secret}, k.clock.Now()
	secret := &corev1.Secret{}
	if err := k.live.Get(ctx, at, secret); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read Secret %s with the serving certificate of Deployment %s: %w", at, need.Deployment, err)
	}
	// One that is there is written if it is there for the extension, or was made for the Service by a product that made its certificates before.
	claimable := revision.Owns(k.ext, secret) || secret.Labels[olmv1.OwnerNameKey] == olmv1.LabelValue(k.ext.Name) || registryv1.MadeElsewhere(secret, need)
	if secret.ResourceVersion != "" && !claimable {
		return nil, fmt.Errorf("secret %s is there already and is not that of ClusterExtension %s, which needs it for the serving certificate of Deployment %s: delete it",
			at, k.ext.Name, need.Deployment)
	}
	one := &certificate{State: serving.Read(secret, serving.CAKey), need: need, secret: secret}
	one.Hosts, one.Delay, one.Issued = need.Hosts, serving.APIServerDelay, k.issued.Recent(at, now)
	one.TrustedSince = time.Time{} // the conditions of revisions say that
	unclaimed := claim(secret, k.ext)
	switch next := one.Next(now); {
	case next.Step == serving.StepIssue, next.Step == serving.StepStage:
		return one, k.take(ctx, one, next.Step)
	case next.Step == serving.StepLimited && one.Current.Check(need.Hosts, now) != nil:
		return nil, fmt.Errorf("issue the serving certificate of Deployment %s in Secret %s: %w", need.Deployment, at, next.Reason)
	case unclaimed:
		return one, k.save(ctx, one)
	}
	return one, nil
}

// take carries out a step and stores what it leads to.
func (k *keeper) take(ctx context.Context, one *certificate, step serving.Step) error {
	now := k.clock.Now()
	r := serving.Request{Now: now}
	if step == serving.StepIssue {
		// The pods of the newest revision may still serve a certificate that was lost: the authorities that its objects trust for the Service stay.
		var inherited [][]byte
		if k.newest != nil {
			objects, err := revision.Objects(ctx, k.client, k.newest)
			if err != nil && !revision.Lost(err) {
				return fmt.Errorf("read revision %s, for the CA bundle that is trusted for Service %s/%s: %w", k.newest.Name, k.ext.Spec.Namespace, one.need.Service, err)
			}
			inherited = serving.Injected(objects, k.ext.Spec.Namespace, one.need.Service)
		}
		r.Old.CABundle = serving.Merge(now, maxInherited, append(inherited, one.Current.CABundle)...)
	}
	after, err := one.After(step, r)
	if err != nil {
		return err
	}
	one.State = after
	one.secret.Namespace, one.secret.Name, one.secret.Type = k.ext.Spec.Namespace, one.need.Secret, corev1.SecretTypeTLS
	if err := k.save(ctx, one); err != nil {
		return err
	}
	if step != serving.StepPromote {
		k.issued.Record(client.ObjectKeyFromObject(one.secret), now)
	}
	return nil
}

// save writes the Secret. Another client's write in between is an error: then that one is read.
func (k *keeper) save(ctx context.Context, one *certificate) error {
	one.Write(one.secret, serving.CAKey)
	write := func() error { return k.client.Update(ctx, one.secret, fieldOwner) }
	if one.secret.ResourceVersion == "" {
		write = func() error { return k.client.Create(ctx, one.secret, fieldOwner) }
	}
	if err := write(); err != nil {
		return fmt.Errorf("write Secret %s/%s with the serving certificate of Deployment %s: %w", one.secret.Namespace, one.secret.Name, one.need.Deployment, err)
	}
	return nil
}

// providersLife is how long it is remembered who can make certificates in the cluster: to ask for kinds that are not there costs requests.
const providersLife = time.Minute

// providers finds out who makes serving certificates in the cluster.
type providers struct {
	kinds meta.RESTMapper
	clock clock.PassiveClock

	mu    sync.Mutex
	known []registryv1.CertificateProvider
	until time.Time
}

// get returns who can, or what was known last where that cannot be found out now.
func (p *providers) get(context.Context) []registryv1.CertificateProvider {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clock.Now().Before(p.until) {
		return p.known
	}
	if found, ok := desired.Providers(p.kinds); ok {
		p.known, p.until = found, p.clock.Now().Add(providersLife)
	}
	return p.known
}
