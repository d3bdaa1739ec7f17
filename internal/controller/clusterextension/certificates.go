package clusterextension

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/rollout/serving"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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

// keepCertificates looks after the certificates that pods show: it makes those that are missing or cannot be used, and renews those whose
// time has come. A renewed one is announced first, by another revision that trusts its authority too; only when that is rolled out, pods get
// to see it.
func (c *Controller) keepCertificates(ctx context.Context, s *state, newest *olmv1.ClusterObjectSet, o *outcome) error {
	if installed := s.revisions.installed(); installed != nil && installed != newest {
		if _, _, err := c.certificatesOf(ctx, s, installed, o); err != nil { // its pods run until the newest one is rolled out
			return err
		}
	}
	found, all, err := c.certificatesOf(ctx, s, newest, o)
	switch {
	case err != nil:
		return err
	case !found.trustedBy(newest):
		return c.spread(ctx, s, newest, found, o)
	case s.revisions.installed() != newest:
		return nil
	}
	if wait := trustedSince(newest).Add(trustDelay).Sub(c.Clock.Now()); wait > 0 && slices.ContainsFunc(all, (*certificate).waits) {
		o.soonest(wait)
		return nil
	}
	var needed []registryv1.Serving
	for _, certificate := range all {
		if err := c.showNext(ctx, certificate); err != nil {
			return err
		}
		needed = append(needed, certificate.need)
	}
	return c.dropCertificates(ctx, c.secrets, s.ext, needed)
}

// trustDelay is how long everybody who asks a server knows its next certificate before pods get to see it. An API server hears of new
// authorities a moment later, and goes on with those that it knew for requests that are under way.
const trustDelay = time.Minute

// trustedSince is when all objects of a revision came to be as they are to be.
func trustedSince(r *olmv1.ClusterObjectSet) time.Time {
	if c := meta.FindStatusCondition(r.Status.Conditions, olmv1.TypeSucceeded); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// certificatesOf are the certificates of a revision, which can be used, and what those who ask for its Services are to trust.
func (c *Controller) certificatesOf(ctx context.Context, s *state, r *olmv1.ClusterObjectSet, o *outcome) (authorities, []*certificate, error) {
	need, err := servingOf(r)
	if err != nil {
		return nil, nil, err
	}
	found := authorities{}
	var all []*certificate
	for _, one := range need {
		certificate, err := c.ensure(ctx, s.ext, one)
		if err != nil {
			return nil, nil, err
		}
		found[one.Service] = certificate.current.CABundle
		all = append(all, certificate)
		if at, err := certificate.current.RotateAt(); err == nil {
			o.soonest(max(at.Sub(c.Clock.Now()), recheck))
		}
	}
	return found, all, nil
}

// certificate is a serving certificate in its Secret.
type certificate struct {
	need    registryv1.Serving
	secret  *corev1.Secret
	current serving.Certificate // with the authorities of the next one, too
	next    serving.Certificate // without a certificate when none is waiting
}

// waits tells whether there is a next one that pods do not have yet.
func (c *certificate) waits() bool { return len(c.next.Certificate) > 0 }

// ensure reads a certificate. One that cannot be used is made anew; one that is due gets a successor, which waits.
func (c *Controller) ensure(ctx context.Context, ext *olmv1.ClusterExtension, need registryv1.Serving) (*certificate, error) {
	at := client.ObjectKey{Namespace: ext.Spec.Namespace, Name: need.Secret}
	secret := &corev1.Secret{}
	if err := c.live.Get(ctx, at, secret); err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read Secret %s with the serving certificate of Deployment %s: %w", at, need.Deployment, err)
	}
	if secret.ResourceVersion != "" && !claimable(secret, ext, need) {
		return nil, fmt.Errorf("secret %s is there already and is not that of ClusterExtension %s, which needs it for the serving certificate of Deployment %s: delete it",
			at, ext.Name, need.Deployment)
	}
	unclaimed, d := claim(secret, ext), secret.Data
	one := &certificate{need: need, secret: secret,
		current: serving.Certificate{Certificate: d[corev1.TLSCertKey], Key: d[corev1.TLSPrivateKeyKey], CABundle: d[authoritiesData]},
		next:    serving.Certificate{Certificate: d[nextCertificate], Key: d[nextKey], CABundle: d[authoritiesData]}}
	now := c.Clock.Now()
	switch {
	case one.current.Check(need.Hosts, now) != nil:
		if !c.issued.allows(at, now) {
			return nil, fmt.Errorf("secret %s with the serving certificate of Deployment %s was made %d times within %s, because somebody else deletes or changes it, which each "+
				"time lets requests fail: find out who, by its managedFields or the audit log of the cluster; it is made again later", at, need.Deployment, issuesAtMost, issuesWithin)
		}
		return one, c.issue(ctx, ext, one, func(fresh serving.Certificate) { one.current, one.next = fresh, serving.Certificate{} })
	case one.current.Due(need.Hosts, now) != nil && one.next.Check(need.Hosts, now) != nil:
		return one, c.issue(ctx, ext, one, func(fresh serving.Certificate) {
			one.next, one.current.CABundle = fresh, fresh.CABundle
		})
	case unclaimed:
		return one, c.save(ctx, one)
	}
	return one, nil
}

func (c *Controller) issue(ctx context.Context, ext *olmv1.ClusterExtension, one *certificate, take func(serving.Certificate)) error {
	fresh, err := serving.Issue(serving.Request{Hosts: one.need.Hosts, Now: c.Clock.Now(), Old: one.current})
	if err != nil {
		return err
	}
	take(fresh)
	one.secret.Namespace, one.secret.Name, one.secret.Type = ext.Spec.Namespace, one.need.Secret, corev1.SecretTypeTLS
	return c.save(ctx, one)
}

// showNext lets pods have the certificate that waits.
func (c *Controller) showNext(ctx context.Context, one *certificate) error {
	if !one.waits() {
		return nil
	}
	one.current, one.next = one.next, serving.Certificate{}
	return c.save(ctx, one)
}

// save writes the Secret. Somebody else's write in between is an error: then that one is looked at.
func (c *Controller) save(ctx context.Context, one *certificate) error {
	one.secret.Data = map[string][]byte{corev1.TLSCertKey: one.current.Certificate, corev1.TLSPrivateKeyKey: one.current.Key, authoritiesData: one.current.CABundle}
	if one.waits() {
		one.secret.Data[nextCertificate], one.secret.Data[nextKey] = one.next.Certificate, one.next.Key
	}
	write := func() error { return c.client.Update(ctx, one.secret, fieldOwner) }
	if one.secret.ResourceVersion == "" {
		write = func() error { return c.client.Create(ctx, one.secret, fieldOwner) }
	}
	if err := write(); err != nil {
		return fmt.Errorf("write Secret %s/%s with the serving certificate of Deployment %s: %w", one.secret.Namespace, one.secret.Name, one.need.Deployment, err)
	}
	return nil
}
