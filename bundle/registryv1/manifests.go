package registryv1

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/bundle"
)

const serviceKind = "Service"

// customResourceDefinitions are the CRDs of the bundle, with their conversion webhooks.
func (r *renderer) customResourceDefinitions() ([]runtime.Object, error) {
	conversions, err := bundle.Conversions(r.csv, bundle.WebhookOptions{Certs: r.certs})
	if err != nil {
		return nil, err
	}
	by := map[string]bundle.Conversion{}
	for _, conversion := range conversions {
		by[conversion.CRD] = conversion
	}
	var out []runtime.Object
	for _, crd := range crds(r.bundle) {
		crd = crd.DeepCopy()
		crd.SetNamespace("")
		if conversion, ok := by[crd.GetName()]; ok {
			if err := r.convert(crd, conversion); err != nil {
				return nil, err
			}
		}
		out = append(out, crd)
	}
	return out, nil
}

func (r *renderer) convert(crd *unstructured.Unstructured, conversion bundle.Conversion) error {
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(conversion.Spec)
	if err == nil {
		err = unstructured.SetNestedMap(crd.Object, spec, "spec", "conversion")
	}
	if err != nil {
		return fmt.Errorf("convert CRD %s with webhook %s: %w", crd.GetName(), conversion.GenerateName, err)
	}
	r.injectCA(crd, conversion.Spec.Webhook.ClientConfig.Service.Name)
	return nil
}

// manifests are the other manifests of the bundle, in the namespace of the installation or in none. Services that serve webhooks or APIs
// are rendered with those.
func (r *renderer) manifests() ([]runtime.Object, error) {
	var out []runtime.Object
	for _, object := range r.bundle.Objects {
		if object.GetKind() == crdKind || r.isServing(object) {
			continue
		}
		object = object.DeepCopy()
		object.SetNamespace("")
		if bundle.Namespaced(object.GetKind()) {
			object.SetNamespace(r.options.Namespace)
		}
		out = append(out, object)
	}
	return out, nil
}

// isServing says whether a manifest is the Service in front of a Deployment that serves webhooks or APIs.
func (r *renderer) isServing(object *unstructured.Unstructured) bool {
	if object.GroupVersionKind() != corev1.SchemeGroupVersion.WithKind(serviceKind) {
		return false
	}
	for deployment := range r.certs {
		if bundle.ServingServiceName(deployment) == object.GetName() {
			return true
		}
	}
	return false
}
