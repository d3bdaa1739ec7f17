package certificates

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/fairlead/internal/rollout/serving"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// standin does what a product does, again and again: it makes certificates that are asked for, and writes authorities into what is registered.
type standin struct {
	*world
	// issue makes certificates; inject returns the authorities that an object with annotations asks for.
	issue  func(ctx context.Context, s *standin) error
	inject func(ctx context.Context, s *standin, annotations map[string]string) ([]byte, error)
	// idle is true while it makes no certificates.
	idle atomic.Bool

	mu sync.Mutex
	// injected is how often authorities were written into an object.
	injected map[string]int
	troubles []string
}

// begin lets a stand-in work until the test is over.
func (s *standin) begin() *standin {
	s.injected = map[string]int{}
	ctx, stop := context.WithCancel(context.WithoutCancel(s.Context()))
	var working sync.WaitGroup
	working.Go(func() {
		for ctx.Err() == nil {
			if err := s.pass(ctx); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
				s.mu.Lock()
				s.troubles = append(s.troubles, err.Error())
				s.mu.Unlock()
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	s.Cleanup(func() {
		stop()
		working.Wait()
		if len(s.troubles) > 0 {
			s.Errorf("the stand-in failed %d times: %s", len(s.troubles), s.troubles[0])
		}
	})
	return s
}

func (s *standin) pass(ctx context.Context) error {
	if !s.idle.Load() {
		if err := s.issue(ctx, s); err != nil {
			return err
		}
	}
	var validating admissionv1.ValidatingWebhookConfigurationList
	var mutating admissionv1.MutatingWebhookConfigurationList
	var crds apiextensionsv1.CustomResourceDefinitionList
	for _, list := range []client.ObjectList{&validating, &mutating, &crds} {
		if err := s.List(ctx, list); err != nil {
			return err
		}
	}
	for i := range validating.Items {
		o := &validating.Items[i]
		if err := s.write(ctx, o, func() *[]byte { return &o.Webhooks[0].ClientConfig.CABundle }); err != nil {
			return err
		}
	}
	for i := range mutating.Items {
		o := &mutating.Items[i]
		if err := s.write(ctx, o, func() *[]byte { return &o.Webhooks[0].ClientConfig.CABundle }); err != nil {
			return err
		}
	}
	for i := range crds.Items {
		o := &crds.Items[i]
		if o.Spec.Conversion == nil || o.Spec.Conversion.Webhook == nil {
			continue
		}
		if err := s.write(ctx, o, func() *[]byte { return &o.Spec.Conversion.Webhook.ClientConfig.CABundle }); err != nil {
			return err
		}
	}
	return nil
}

// write brings the authorities of an object about that asks for them.
func (s *standin) write(ctx context.Context, o client.Object, field func() *[]byte) error {
	wanted, err := s.inject(ctx, s, o.GetAnnotations())
	if err != nil || wanted == nil || bytes.Equal(*field(), wanted) {
		return err
	}
	*field() = wanted
	if err := s.Update(ctx, o, client.FieldOwner("injector")); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.injected[o.GetName()]++
	return nil
}

// writes is how often authorities were written into objects of an extension: more than once for each is a fight.
func (s *standin) writes(name string) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for object, n := range s.injected {
		if strings.Contains(object, "."+name+".") {
			out[object] = n
		}
	}
	return out
}

// keep makes a Secret with a certificate, unless it is there.
func (s *standin) keep(ctx context.Context, namespace, name string, hosts []string, annotations map[string]string) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: annotations}, Type: corev1.SecretTypeTLS}
	if err := s.Get(ctx, client.ObjectKeyFromObject(secret), secret); !apierrors.IsNotFound(err) {
		return err
	}
	made, err := serving.Issue(serving.Request{Hosts: hosts, Now: time.Now()})
	if err != nil {
		return err
	}
	secret.Data = map[string][]byte{"tls.crt": made.Certificate, "tls.key": made.Key, "ca.crt": made.CABundle}
	return s.Create(ctx, secret)
}

// certManager stands in for cert-manager and its injector of authorities.
func (w *world) certManager() *standin {
	s := &standin{world: w, issue: certManagerIssues, inject: func(ctx context.Context, s *standin, annotations map[string]string) ([]byte, error) {
		namespace, name, asked := strings.Cut(annotations["cert-manager.io/inject-ca-from"], "/")
		if !asked {
			return nil, nil
		}
		certificate := custom("Certificate")
		if err := s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, certificate); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		secret := &corev1.Secret{}
		secretName, _, _ := unstructured.NestedString(certificate.Object, "spec", "secretName")
		err := s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: secretName}, secret)
		return secret.Data["ca.crt"], client.IgnoreNotFound(err)
	}}
	return s.begin()
}

func custom(kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("cert-manager.io/v1")
	u.SetKind(kind)
	return u
}

// certManagerIssues makes a Certificate ready that an Issuer, which signs by itself, is there for.
func certManagerIssues(ctx context.Context, s *standin) error {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("cert-manager.io/v1")
	list.SetKind("CertificateList")
	if err := s.List(ctx, list); err != nil {
		return err
	}
	for i := range list.Items {
		one := &list.Items[i]
		reference, _, _ := unstructured.NestedStringMap(one.Object, "spec", "issuerRef")
		issuer := custom(reference["kind"])
		if err := s.Get(ctx, client.ObjectKey{Namespace: one.GetNamespace(), Name: reference["name"]}, issuer); err != nil {
			return client.IgnoreNotFound(err)
		}
		if _, signs, _ := unstructured.NestedMap(issuer.Object, "spec", "selfSigned"); !signs {
			return fmt.Errorf("issuer %s cannot sign: %v", issuer.GetName(), issuer.Object["spec"])
		}
		hosts, _, _ := unstructured.NestedStringSlice(one.Object, "spec", "dnsNames")
		name, _, _ := unstructured.NestedString(one.Object, "spec", "secretName")
		if err := s.keep(ctx, one.GetNamespace(), name, hosts, map[string]string{"cert-manager.io/certificate-name": one.GetName()}); err != nil {
			return err
		}
		for _, ready := range []*unstructured.Unstructured{issuer, one} {
			if _, said, _ := unstructured.NestedSlice(ready.Object, "status", "conditions"); said {
				continue
			}
			ready.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}
			if err := s.Status().Update(ctx, ready); err != nil {
				return err
			}
		}
	}
	return nil
}

// serviceCA stands in for the service-ca operator of OpenShift. All that it makes is trusted by whoever asks for authorities.
func (w *world) serviceCA() *standin {
	s := &standin{world: w, issue: serviceCAIssues, inject: func(ctx context.Context, s *standin, annotations map[string]string) ([]byte, error) {
		if annotations["service.beta.openshift.io/inject-cabundle"] != "true" {
			return nil, nil
		}
		var secrets corev1.SecretList
		if err := s.List(ctx, &secrets); err != nil {
			return nil, err
		}
		var all []byte
		for i := range secrets.Items {
			if secrets.Items[i].Annotations[originating] != "" {
				all = append(all, secrets.Items[i].Data["ca.crt"]...)
			}
		}
		return all, nil
	}}
	return s.begin()
}

const originating = "service.beta.openshift.io/originating-service-name"

func serviceCAIssues(ctx context.Context, s *standin) error {
	var services corev1.ServiceList
	if err := s.List(ctx, &services); err != nil {
		return err
	}
	for i := range services.Items {
		service := &services.Items[i]
		secret := service.Annotations["service.beta.openshift.io/serving-cert-secret-name"]
		if secret == "" {
			continue
		}
		host := service.Name + "." + service.Namespace + ".svc"
		if err := s.keep(ctx, service.Namespace, secret, []string{host, host + ".cluster.local"}, map[string]string{originating: service.Name}); err != nil {
			return err
		}
	}
	return nil
}
