package registryv1

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

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
			annotate(service, serviceCACertAnnotation, service.Name+"-cert")
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
