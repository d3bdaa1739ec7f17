package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

// certificate is the serving certificate of one Deployment.
type certificate struct {
	serving.State
	deployment string
	namespace  string
	// secret is the metadata of the Secret, empty when there is none.
	secret metav1.ObjectMeta
	// next is what to do about the certificate, and trusted is the CA bundle of everything that is registered.
	next    serving.Decision
	trusted []byte
	// unusable is why the pods cannot serve with it; nil when they can.
	unusable error
	// inherited is what is trusted already where the certificate is missing, and completed is whether it only lacked that.
	inherited inheritance
	completed bool
	// held is why the Secret must not be written: another client owns it, or damages it again and again.
	held error
}

// certificates are those of a CSV, by Deployment.
type certificates map[string]*certificate

// readCertificates reads the serving certificates, once a pass, straight from the cluster: the contents of Secrets are
// not cached.
func (f *facts) readCertificates(ctx context.Context) (certificates, error) {
	if f.certificates != nil {
		return f.certificates, nil
	}
	out := certificates{}
	for _, deployment := range bundle.ServingDeployments(f.csv) {
		name := key(f.csv.Namespace, bundle.ServingSecretName(deployment))
		secret := &corev1.Secret{}
		if err := f.c.live.Get(ctx, name, secret); err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read Secret %s with the serving certificate of Deployment %s: %w", name, deployment, err)
		}
		whose, err := f.secretHeldBy(ctx, secret)
		if err != nil {
			return nil, err
		}
		c := &certificate{State: serving.Read(secret, bundle.ServingCAKey), deployment: deployment, namespace: f.csv.Namespace, secret: secret.ObjectMeta}
		c.Hosts, c.Delay = bundle.ServingHosts(deployment, f.csv.Namespace), serving.APIServerDelay
		out[deployment] = c
		if whose != "" {
			c.unusable = errors.New(whose)
			c.hold(c.unusable)
			continue
		}
		f.decide(c)
		if err := f.inherit(ctx, c); err != nil {
			return nil, err
		}
		if f.decide(c); c.next.Step == serving.StepLimited && c.unusable != nil {
			c.hold(c.next.Reason)
		}
	}
	f.certificates = out
	return out, nil
}

// decide works out what to do next about a certificate.
func (f *facts) decide(c *certificate) {
	now := f.c.clock.Now()
	c.Issued = f.c.issued.Recent(c.key(), now)
	c.unusable, c.next, c.trusted = c.Current.Check(c.Hosts, now), c.Next(now), c.Current.CABundle
	if !c.TrustedSince.IsZero() { // until then a failure to publish it is none of what is registered
		c.trusted = c.Trusted(now)
	}
}

// hold keeps the Secret of a certificate as it is, which the pods cannot serve with.
func (c *certificate) hold(reason error) {
	c.held = refused(fmt.Errorf("%s %s %w", kindOf(&corev1.Secret{}), c.key(), reason))
	c.next = serving.Decision{Step: serving.StepIssue, Reason: reason}
}

// key is the name of the Secret.
func (c *certificate) key() types.NamespacedName {
	return key(c.namespace, bundle.ServingSecretName(c.deployment))
}

// replaceable is why the Secret gets another certificate in use now; nil when it does not.
func (c *certificate) replaceable() error { return c.reason(serving.StepIssue, serving.StepPromote) }

// unstaged is why the next certificate has to be staged, or trusted; nil when neither is so.
func (c *certificate) unstaged() error { return c.reason(serving.StepStage, serving.StepPublish) }

func (c *certificate) reason(of ...serving.Step) error {
	if slices.Contains(of, c.next.Step) {
		return c.next.Reason
	}
	return nil
}

// choose picks the certificates that there is a reason for, in the order of their Deployments.
func (cs certificates) choose(reason func(*certificate) error) []*certificate {
	var out []*certificate
	for _, name := range slices.Sorted(maps.Keys(cs)) {
		if c := cs[name]; reason(c) != nil {
			out = append(out, c)
		}
	}
	return out
}

// rotateAt is when the first certificate is due for renewal; zero when there is none.
func (cs certificates) rotateAt() time.Time {
	var first time.Time
	for _, c := range cs {
		if at, err := c.Current.RotateAt(); err == nil && c.held == nil && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// due is when the next step of a certificate is due; zero when there is none. A step that was not taken in this pass is not possible in the phase
// of the CSV, and is retried.
func (cs certificates) due(now time.Time) time.Time {
	var first time.Time
	for _, c := range cs {
		at := c.next.At
		if at.IsZero() {
			at = now.Add(unwatchedInterval)
		}
		if c.held == nil && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// bundles are the certificates as the bundle package takes them, with one of their CA bundles.
func (cs certificates) bundles(of func(*certificate) []byte) map[string]bundle.ServingCert {
	out := map[string]bundle.ServingCert{}
	for name, c := range cs {
		out[name] = bundle.ServingCert{CA: of(c)}
	}
	return out
}

// certificatesDue looks for certificates that are missing or cannot be used, and for those whose successor is trusted.
func (f *facts) certificatesDue(ctx context.Context) (finding, error) {
	return f.firstCertificate(ctx, (*certificate).replaceable)
}

// certificatesUnstaged looks for certificates that are due for renewal, and whose successor is not staged or not trusted yet.
func (f *facts) certificatesUnstaged(ctx context.Context) (finding, error) {
	found, err := f.firstCertificate(ctx, (*certificate).unstaged)
	for _, c := range f.certificates {
		if c.next.Step == serving.StepLimited {
			f.c.tell(f.csv, corev1.EventTypeWarning, v1alpha1.CSVReasonNeedsCertRotation, fmt.Sprintf("the certificate in Secret %s is not renewed: %v", c.key(), c.next.Reason))
		}
	}
	return found, err
}

func (f *facts) firstCertificate(ctx context.Context, reason func(*certificate) error) (finding, error) {
	all, err := f.readCertificates(ctx)
	if err != nil {
		return seenNot, err
	}
	for _, c := range all.choose(reason) {
		return seen(fmt.Sprintf("Secret %s: %v", c.key().Name, reason(c))), nil
	}
	return seenNot, nil
}

// certificateChanges adopt good certificates that do not belong to the CSV, such as those of the version that it replaces, which would be deleted
// with that, and complete those that lacked their authorities. Those of another client are refused.
func (f *facts) certificateChanges(ctx context.Context) ([]change, error) {
	all, err := f.readCertificates(ctx)
	if err != nil {
		return nil, err
	}
	var out []change
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		if c.held != nil {
			return nil, c.held
		}
		if c.unusable == nil && (c.completed || !(ownedBy(&c.secret, f.csv) && hasOwner(&c.secret, f.csv.UID))) {
			out = append(out, change{apply: secretOf(f.csv, c)})
		}
	}
	return out, nil
}

// secretOf is the Secret that the pods of a Deployment mount.
func secretOf(csv *v1alpha1.ClusterServiceVersion, c *certificate) *corev1.Secret {
	labels := bundle.OwnerLabels(csv)
	labels[v1alpha1.ManagedLabel] = v1alpha1.ManagedLabelValue
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            bundle.ServingSecretName(c.deployment),
			Namespace:       csv.Namespace,
			Labels:          labels,
			Annotations:     map[string]string{v1alpha1.CAHashAnnotation: bundle.CAHash(c.Current.CABundle)},
			OwnerReferences: []metav1.OwnerReference{bundle.OwnerReference(csv)},
		},
		Type: corev1.SecretTypeTLS,
	}
	c.Write(secret, bundle.ServingCAKey)
	return secret
}
