package registryv1

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"fairlead.dev/fairlead/bundle"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// renderer is a bundle that can be installed with all that its objects depend on.
type renderer struct {
	// Extension renders what runs the operator, from the ClusterServiceVersion in the namespace of the installation. All else of it is
	// shared with the bundle.
	bundle.Extension
	bundle  *bundle.Bundle
	options Options
}

func newRenderer(b *bundle.Bundle, o Options) (*renderer, error) {
	switch o.Certificates {
	case "":
		o.Certificates = BuiltIn
	case BuiltIn, CertManager, ServiceCA:
	default:
		return nil, fmt.Errorf("render bundle %s: certificate provider %q is not known; use %s, %s or %s", b.Name, o.Certificates, BuiltIn, CertManager, ServiceCA)
	}
	if o.Namespace == "" {
		return nil, fmt.Errorf("render bundle %s: %w", b.Name, errors.New("there is no namespace to install it in; name one"))
	}
	if err := Validate(b); err != nil {
		return nil, err
	}
	modes, err := modesOf(b)
	if err != nil {
		return nil, err
	}
	config, err := readConfig(modes, o.Namespace, o.Config)
	if err != nil {
		return nil, err
	}
	csv := *b.CSV
	csv.Namespace = o.Namespace
	// The certificates that Deployments need. Their CA certificates are known where we make them.
	out := map[string]bundle.ServingCert{}
	for _, deployment := range bundle.ServingDeployments(&csv) {
		cert := bundle.ServingCert{}
		if o.Certificates == BuiltIn && o.CA != nil {
			cert.CA = o.CA(deployment)
		}
		out[deployment] = cert
	}
	return &renderer{bundle: b, options: o, Extension: bundle.Extension{
		CSV: &csv, Targets: config.targets, Config: config.deployment, Certs: out, OperatorCondition: o.OperatorCondition,
	}}, nil
}

// generate makes the objects of the bundle, in their order.
func (r *renderer) generate() ([]runtime.Object, error) {
	var out []runtime.Object
	for _, account := range r.ServiceAccounts() {
		// One that is among the manifests is rendered there, with whatever its author gave it.
		if !slices.ContainsFunc(r.bundle.Objects, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == account.Kind && o.GetName() == account.Name
		}) {
			out = append(out, account)
		}
	}
	for _, generate := range []func() ([]runtime.Object, error){
		r.Roles,
		r.customResourceDefinitions,
		r.manifests,
		r.operatorCondition,
		r.deployments,
		r.webhooks,
		r.services,
		r.apiServices,
		r.certificates,
	} {
		objects, err := generate()
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	return out, nil
}

func (r *renderer) deployments() ([]runtime.Object, error) {
	deployments, err := r.Deployments()
	var out []runtime.Object
	for _, d := range deployments {
		out = append(out, d)
	}
	return out, err
}

// webhooks are the configurations of the admission webhooks, with what the API server is to trust.
func (r *renderer) webhooks() ([]runtime.Object, error) {
	validating, err := r.ValidatingWebhooks()
	if err != nil {
		return nil, err
	}
	mutating, err := r.MutatingWebhooks()
	if err != nil {
		return nil, err
	}
	var out []runtime.Object
	for _, c := range validating {
		r.injectCA(c, c.Webhooks[0].ClientConfig.Service.Name)
		out = append(out, c)
	}
	for _, c := range mutating {
		r.injectCA(c, c.Webhooks[0].ClientConfig.Service.Name)
		out = append(out, c)
	}
	return out, nil
}

// apiServices register the aggregated APIs that the bundle owns, after the rights of those that serve them.
func (r *renderer) apiServices() ([]runtime.Object, error) {
	out := r.Delegations()
	for _, registration := range r.APIServices() {
		r.injectCA(registration, registration.Spec.Service.Name)
		out = append(out, registration)
	}
	return out, nil
}

// objects are what generate makes, as manifests. No two objects may be the same one: which of them would win is chance.
func (r *renderer) objects() ([]*unstructured.Unstructured, error) {
	generated, err := r.generate()
	if err != nil {
		return nil, fmt.Errorf("render bundle %s: %w", r.bundle.Name, err)
	}
	out := make([]*unstructured.Unstructured, 0, len(generated))
	seen := map[string]bool{}
	p := &problems{}
	for _, object := range generated {
		u, err := bundle.ToUnstructured(object)
		if err != nil {
			return nil, fmt.Errorf("render bundle %s: %w", r.bundle.Name, err)
		}
		bundle.DropAggregation(u)
		key := u.GroupVersionKind().GroupKind().String() + " " + u.GetNamespace() + " " + u.GetName()
		if seen[key] {
			p.add(u.GetKind()+" "+u.GetName(), "", "a manifest of the bundle has the name that the operator's own object needs; rename it")
		}
		seen[key] = true
		out = append(out, u)
	}
	if len(p.list) > 0 {
		return nil, &InvalidError{Bundle: r.bundle.Name, Problems: p.list}
	}
	return out, nil
}

// services stand in front of the Deployments that serve webhooks or aggregated APIs.
func (r *renderer) services() ([]runtime.Object, error) {
	services, err := r.Services()
	if err != nil {
		return nil, err
	}
	var out []runtime.Object
	for _, service := range services {
		if err := r.joinManifest(service); err != nil {
			return nil, err
		}
		if r.options.Certificates == ServiceCA {
			metav1.SetMetaDataAnnotation(&service.ObjectMeta, serviceCACertAnnotation, service.Name+"-cert")
		}
		out = append(out, service)
	}
	return out, nil
}

// joinManifest adds to a Service what the manifest of the same name has besides: labels, annotations and other ports. Bundles have such
// manifests when they are made for installing without an operator manager as well.
func (r *renderer) joinManifest(service *corev1.Service) error {
	at := slices.IndexFunc(r.bundle.Objects, func(o *unstructured.Unstructured) bool { return o.GetName() == service.Name && r.isServing(o) })
	if at < 0 {
		return nil
	}
	manifest := &corev1.Service{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(r.bundle.Objects[at].DeepCopy().Object, manifest); err != nil {
		return fmt.Errorf("read manifest of Service %s: %w", service.Name, err)
	}
	service.Labels, service.Annotations = manifest.Labels, manifest.Annotations
	for _, port := range manifest.Spec.Ports {
		port.Name = cmp.Or(port.Name, strconv.Itoa(int(port.Port)))
		if !slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port.Port || p.Name == port.Name }) {
			service.Spec.Ports = append(service.Spec.Ports, port)
		}
	}
	return nil
}
