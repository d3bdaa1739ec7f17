package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/serving"
	admissionv1 "k8s.io/api/admissionregistration/v1"
)

const (
	// maxInherited bounds the registered authorities that stay trusted, besides that of a new certificate.
	maxInherited = 2
	// issuerAnnotation is how cert-manager marks the Secrets that it writes, with the name of the Certificate.
	issuerAnnotation = "cert-manager.io/certificate-name"
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

// inheritance is what is registered for the servers of a Deployment whose certificate is missing, or lacks its CA bundle. The running pods may
// still serve a certificate from before, of another manager of operators for example, which the registered clients trust.
type inheritance struct {
	authorities []byte
	// former are the APIServices that lead to the Services which other implementations made, one for each APIService. The same pods are behind
	// these, and are asked by the names of the Services until the APIServices lead elsewhere.
	former []*apiregistrationv1.APIService
}

// certificates are those of a CSV, by Deployment. A reason picks some of them.
type certificates map[string]*certificate

type reasonOf func(*certificate) error

var (
	// replaceable is why the Secret gets another certificate in use now; nil when it does not.
	replaceable = stepDue(serving.StepIssue, serving.StepPromote)
	// unstaged is why the next certificate has to be staged, or trusted; nil when neither is so.
	unstaged = stepDue(serving.StepStage, serving.StepPublish)
)

// untrusted is why clients have to trust the certificate in use first; nil when they do.
func untrusted(c *certificate) error {
	if errors.Is(c.next.Reason, serving.ErrUntrusted) {
		return c.next.Reason
	}
	return nil
}

// stepDue is why one of some steps is next.
func stepDue(of ...serving.Step) reasonOf {
	return func(c *certificate) error {
		if slices.Contains(of, c.next.Step) {
			return c.next.Reason
		}
		return nil
	}
}

// certificates reads the serving certificates past the cache: the contents of Secrets are not cached.
func (o *observer) certificates(ctx context.Context, chain *chain) (certificates, error) {
	out := certificates{}
	for _, deployment := range bundle.ServingDeployments(o.csv) {
		name := key(o.csv.Namespace, bundle.ServingSecretName(deployment))
		secret, err := read[*corev1.Secret](ctx, o.live, name)
		if err != nil {
			return nil, fmt.Errorf("look for the serving certificate of Deployment %s: %w", deployment, err)
		}
		reason := ""
		if secret == nil {
			secret = &corev1.Secret{}
		} else {
			reason = chain.secretHeld(secret)
		}
		c := &certificate{State: serving.Read(secret, bundle.ServingCAKey), deployment: deployment, namespace: o.csv.Namespace, secret: secret.ObjectMeta}
		c.Hosts, c.Delay = bundle.ServingHosts(deployment, o.csv.Namespace), serving.APIServerDelay
		out[deployment] = c
		if reason != "" {
			c.unusable = errors.New(reason)
			c.hold(c.unusable)
			continue
		}
		now := o.clock.Now()
		c.Issued = o.issued.Recent(c.key(), now)
		if c.decide(now); c.unusable != nil {
			if err := (servers{o}).inherit(ctx, c); err != nil {
				return nil, err
			}
			c.decide(now)
		} else if err := (servers{o}).join(ctx, c); err != nil {
			return nil, err
		}
		if c.next.Step == serving.StepLimited && c.unusable != nil {
			c.hold(c.next.Reason)
		}
	}
	return out, nil
}

// secretHeld is to whom the Secret of a serving certificate belongs, if that is another client: a private key that is overwritten cannot
// be restored. The hash of its authorities marks one that a manager of operators made, although a restored backup may have lost its owner.
func (c *chain) secretHeld(live *corev1.Secret) string {
	if name := live.Annotations[issuerAnnotation]; name != "" { // whichever other owner is named: it would be written again and again
		return fmt.Sprintf("is written by cert-manager for Certificate %s: delete that or give it another spec.secretName, then delete the Secret", name)
	}
	unowned := rollout.Unmarked
	if _, isServing := live.Annotations[v1alpha1.CAHashAnnotation]; isServing {
		unowned = func(metav1.Object) string { return "" }
	}
	return c.claim(live, unowned).Reason
}

// join makes clients trust a certificate that another client has put in the place of theirs, before the pods get it: those that run have read another Secret.
func (o servers) join(ctx context.Context, c *certificate) error {
	pods, err := read[*appsv1.Deployment](ctx, o.cache, key(c.namespace, c.deployment))
	if err != nil || pods == nil || pods.Spec.Template.Annotations[v1alpha1.CAHashAnnotation] == bundle.CAHash(c.Current.CABundle) {
		return err
	}
	registered, err := o.trustedBy(ctx, c)
	if err != nil {
		return err
	}
	now := o.clock.Now()
	if joined, untrusted := c.Join(now, registered...); untrusted {
		c.State = joined
		c.decide(now)
		c.next, c.trusted = serving.Decision{Step: serving.StepPublish, Reason: serving.ErrUntrusted}, c.Trusted(now)
	}
	return nil
}

// inherit reads the CA bundles that are registered for the servers of a Deployment. A certificate that only lacks its CA bundle, as early
// versions of another implementation left it, is completed with them.
func (o servers) inherit(ctx context.Context, c *certificate) error {
	found, err := o.trustedBy(ctx, c)
	if err != nil {
		return err
	}
	now := o.clock.Now()
	c.inherited.authorities = serving.Merge(now, maxInherited, append(found, c.Current.CABundle)...)
	if len(c.Current.CABundle) > 0 || len(c.inherited.authorities) == 0 {
		return nil
	}
	completed := c.Current
	completed.CABundle = c.inherited.authorities
	if completed.Check(c.Hosts, now) == nil {
		c.Current, c.completed = completed, true
	}
	return nil
}

// trustedBy are the CA bundles that are registered for the servers of a Deployment. It notes the APIServices that lead to them by another Service.
func (o servers) trustedBy(ctx context.Context, c *certificate) ([][]byte, error) {
	var found [][]byte
	service := bundle.ServingServiceName(c.deployment)
	for _, description := range o.csv.OwnedAPIServices() {
		if description.DeploymentName != c.deployment {
			continue
		}
		live, err := o.apiService(ctx, description.APIServiceName())
		if err != nil {
			return nil, err
		}
		if live == nil || live.Spec.Service == nil || live.Spec.Service.Namespace != c.namespace {
			continue
		}
		// Another implementation named the Service in front of an owned API so, when it made one for each.
		former := live.Spec.Service.Name == description.Version+"-"+strings.ReplaceAll(description.Group, ".", "-")
		keeper, err := o.keeper(ctx, live)
		if err != nil {
			return nil, err
		}
		if keeper != "" || !former && live.Spec.Service.Name != service {
			continue
		}
		if found = append(found, live.Spec.CABundle); former {
			c.inherited.former = append(c.inherited.former, live)
		}
	}
	hooks, err := o.hookAuthorities(ctx, service)
	return append(found, hooks...), err
}

// hookAuthorities are the CA bundles of the webhooks of the CSV that lead to a Service.
func (o servers) hookAuthorities(ctx context.Context, service string) ([][]byte, error) {
	clients, err := o.registered(ctx)
	if err != nil {
		return nil, err
	}
	for _, owned := range o.csv.Spec.CustomResourceDefinitions.Owned {
		crd, err := o.crd(ctx, owned.Name)
		if err != nil {
			return nil, err
		}
		if crd != nil && len(conversionsOf(o.csv, owned.Name)) > 0 {
			clients = append(clients, crd)
		}
	}
	var objects []*unstructured.Unstructured
	for _, client := range clients {
		u := &unstructured.Unstructured{}
		if err := o.cache.Scheme().Convert(client, u, nil); err != nil {
			return nil, fmt.Errorf("read the CA bundles of %s: %w", describeObject(client), err)
		}
		objects = append(objects, u)
	}
	return serving.Injected(objects, o.csv.Namespace, service), nil
}

// decide works out what to do next about a certificate.
func (c *certificate) decide(now time.Time) {
	c.unusable, c.next, c.trusted = c.Current.Check(c.Hosts, now), c.Next(now), c.Current.CABundle
	if !c.TrustedSince.IsZero() { // until then a failure to publish it is none of what is registered
		c.trusted = c.Trusted(now)
	}
}

// hold keeps the Secret of a certificate as it is, which the pods cannot serve with.
func (c *certificate) hold(reason error) {
	c.held = refused(fmt.Errorf("%s %w", "Secret "+c.key().String(), reason))
	c.next = serving.Decision{Step: serving.StepIssue, Reason: reason}
}

// key is the name of the Secret.
func (c *certificate) key() types.NamespacedName {
	return key(c.namespace, bundle.ServingSecretName(c.deployment))
}

// allHosts are the names that a new certificate is for: those of the Service, and those by which clients still reach its pods.
func (c *certificate) allHosts() []string {
	out := c.Hosts
	for _, s := range c.inherited.former {
		host := s.Spec.Service.Name + "." + s.Spec.Service.Namespace
		out = append(out[:len(out):len(out)], host, host+".svc")
	}
	return out
}

// secretOf is the Secret that the pods of a Deployment mount.
func (c *certificate) secretOf(csv *v1alpha1.ClusterServiceVersion) *corev1.Secret {
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            bundle.ServingSecretName(c.deployment),
			Namespace:       csv.Namespace,
			Labels:          managedLabels(csv),
			Annotations:     map[string]string{v1alpha1.CAHashAnnotation: bundle.CAHash(c.Current.CABundle)},
			OwnerReferences: []metav1.OwnerReference{bundle.OwnerReference(csv)},
		},
		Type: corev1.SecretTypeTLS,
	}
	c.Write(secret, bundle.ServingCAKey)
	return secret
}

// ownedBy limits a reason to the certificates that are still those of the CSV.
func (reason reasonOf) ownedBy(csv *v1alpha1.ClusterServiceVersion) reasonOf {
	return func(c *certificate) error {
		if c.held != nil || !ownedBy(&c.secret, csv) {
			return nil
		}
		return reason(c)
	}
}

// clone copies the certificates, so that an action changes none that was observed.
func (cs certificates) clone() certificates {
	out := certificates{}
	for name, c := range cs {
		changed := *c
		out[name] = &changed
	}
	return out
}

// choose picks the certificates that there is a reason for, in the order of their Deployments.
func (cs certificates) choose(reason reasonOf) []*certificate {
	var out []*certificate
	for _, name := range slices.Sorted(maps.Keys(cs)) {
		if c := cs[name]; reason(c) != nil {
			out = append(out, c)
		}
	}
	return out
}

// bundles are the certificates as the bundle package takes them, with one of their CA bundles.
func (cs certificates) bundles(of func(*certificate) []byte) map[string]bundle.ServingCert {
	out := map[string]bundle.ServingCert{}
	for name, c := range cs {
		out[name] = bundle.ServingCert{CA: of(c)}
	}
	return out
}

// changes adopt good certificates that do not belong to the CSV, such as those of the version that it replaces, which would be deleted
// with that, and complete those that lacked their CA bundle. Those of another client are refused.
func (cs certificates) changes(csv *v1alpha1.ClusterServiceVersion) ([]change, error) {
	var out []change
	for _, name := range slices.Sorted(maps.Keys(cs)) {
		c := cs[name]
		if c.held != nil {
			return nil, c.held
		}
		if c.unusable == nil && (c.completed || !ownedBy(&c.secret, csv) || !hasOwner(&c.secret, csv.UID)) {
			out = append(out, change{apply: c.secretOf(csv)})
		}
	}
	return out, nil
}

// registered reads the webhook configurations that carry the owner labels of the CSV.
func (o *observer) registered(ctx context.Context) ([]client.Object, error) {
	return o.ownedObjects(ctx, true, &admissionv1.ValidatingWebhookConfigurationList{}, &admissionv1.MutatingWebhookConfigurationList{})
}
