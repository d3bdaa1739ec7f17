package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

// certificate is the serving certificate of one Deployment.
type certificate struct {
	deployment string
	hosts      []string
	serving    serving.Certificate
	namespace  string
	// secret is the metadata of the Secret, empty when there is none.
	secret metav1.ObjectMeta
	// announced is the certificate that takes its place, once everybody trusts it; nil when there is none.
	announced *announcement
	// inherited is what is trusted already where the certificate is missing, and completed is whether it only lacked that.
	inherited inheritance
	completed bool
	// unusable is why the pods cannot serve with it; due is why it is to be replaced. Both are nil when it is good.
	unusable, due error
	// held is why the Secret is not to be written: it is somebody else's.
	held error
}

// readCertificates reads the serving certificates, once a pass, straight from the cluster: the contents of Secrets are
// not cached.
func (f *facts) readCertificates(ctx context.Context) (map[string]*certificate, error) {
	if f.certificates != nil {
		return f.certificates, nil
	}
	out := map[string]*certificate{}
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
		c := &certificate{
			deployment: deployment,
			hosts:      bundle.ServingHosts(deployment, f.csv.Namespace),
			namespace:  f.csv.Namespace,
			secret:     secret.ObjectMeta,
			serving: serving.Certificate{
				Certificate: secret.Data[bundle.ServingCertKey],
				Key:         secret.Data[bundle.ServingKeyKey],
				CABundle:    secret.Data[bundle.ServingCAKey],
			},
		}
		if whose != "" {
			c.hold(whose)
		} else if err := f.inherit(ctx, f.judge(c)); err != nil {
			return nil, err
		}
		out[deployment] = c
	}
	f.certificates = out
	return out, nil
}

// hold keeps a certificate as it is that somebody else has, and out of the pods.
func (c *certificate) hold(whose string) {
	c.held = refused(fmt.Errorf("%s %s %s", kindOf(&corev1.Secret{}), c.key(), whose))
	c.unusable, c.due = errors.New(whose), errors.New(whose)
}

// judge looks at a certificate and notes when the first one is to be renewed.
func (f *facts) judge(c *certificate) *certificate {
	now := f.c.clock.Now()
	c.unusable, c.due = c.serving.Check(c.hosts, now), c.serving.Due(c.hosts, now)
	if at, err := c.serving.RotateAt(); err == nil && (f.rotateAt.IsZero() || at.Before(f.rotateAt)) {
		f.rotateAt = at
	}
	f.findAnnounced(c)
	return c
}

// servingCerts are the certificates as the bundle package takes them, for pods: these have the authorities of what they show.
func servingCerts(certificates map[string]*certificate) map[string]bundle.ServingCert {
	out := map[string]bundle.ServingCert{}
	for name, c := range certificates {
		out[name] = bundle.ServingCert{CA: c.serving.CABundle}
	}
	return out
}

// trustedCerts are the certificates as the bundle package takes them, for what is registered: this has the authorities of what is announced.
func trustedCerts(certificates map[string]*certificate) map[string]bundle.ServingCert {
	out := map[string]bundle.ServingCert{}
	for name, c := range certificates {
		out[name] = bundle.ServingCert{CA: c.trusted()}
	}
	return out
}

// certificatesDue looks for certificates that are missing or cannot be used, and for those that are to be renewed and can be: the one that
// takes their place is trusted.
func (f *facts) certificatesDue(ctx context.Context) (finding, error) {
	return f.firstCertificate(ctx, f.replaceable)
}

func (f *facts) firstCertificate(ctx context.Context, problem func(*certificate) error) (finding, error) {
	certificates, err := f.readCertificates(ctx)
	if err != nil {
		return seenNot, err
	}
	for _, name := range slices.Sorted(maps.Keys(certificates)) {
		if err := problem(certificates[name]); err != nil {
			return seen(fmt.Sprintf("Secret %s: %v", bundle.ServingSecretName(name), err)), nil
		}
	}
	return seenNot, nil
}

// writeCertificate writes a renewed certificate, unless somebody else was faster: then that one counts, which others trust already.
func (f *facts) writeCertificate(ctx context.Context, as client.Client, c *certificate) error {
	wanted := secretOf(f.csv, c)
	wanted.ResourceVersion = c.secret.ResourceVersion
	live, err := applyAs(ctx, as, wanted, c.secret.ResourceVersion == "")
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("somebody else has written the serving certificate of Deployment %s at the same time, which is looked at again: %s", c.deployment, err.Error())
	}
	if err != nil {
		return err
	}
	c.secret = live.(*corev1.Secret).ObjectMeta
	return nil
}

// certificateChanges take over good certificates that do not belong to the CSV, such as those of the version that it replaces, which would go
// with that, and complete those that lacked their authorities. Those that somebody else has are refused.
func (f *facts) certificateChanges(ctx context.Context) ([]change, error) {
	certificates, err := f.readCertificates(ctx)
	if err != nil {
		return nil, err
	}
	var out []change
	for _, name := range slices.Sorted(maps.Keys(certificates)) {
		c := certificates[name]
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
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            bundle.ServingSecretName(c.deployment),
			Namespace:       csv.Namespace,
			Labels:          labels,
			Annotations:     map[string]string{v1alpha1.CAHashAnnotation: bundle.CAHash(c.serving.CABundle)},
			OwnerReferences: []metav1.OwnerReference{bundle.OwnerReference(csv)},
		},
		Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{
			bundle.ServingCertKey: c.serving.Certificate,
			bundle.ServingKeyKey:  c.serving.Key,
			bundle.ServingCAKey:   c.serving.CABundle,
		},
	}
}
