package serving

import (
	"encoding/base64"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Inject returns objects that trust the CA bundles of Services of a namespace, by the names of the Services, where they lead to one of them:
// webhook configurations, CRDs with a conversion webhook, and APIServices. Others are returned as they are; nothing is changed in place.
func Inject(objects []*unstructured.Unstructured, namespace string, bundles map[string][]byte) []*unstructured.Unstructured {
	out := slices.Clone(objects)
	for service, bundle := range bundles {
		for i, u := range out {
			if len(clientConfigs(u.Object, namespace, service)) == 0 {
				continue
			}
			out[i] = u.DeepCopy()
			for _, config := range clientConfigs(out[i].Object, namespace, service) {
				config["caBundle"] = base64.StdEncoding.EncodeToString(bundle)
			}
		}
	}
	return out
}

// Injected are the CA bundles that objects, such as those of Inject, trust for a Service.
func Injected(objects []*unstructured.Unstructured, namespace, service string) [][]byte {
	var out [][]byte
	for _, u := range objects {
		for _, config := range clientConfigs(u.Object, namespace, service) {
			text, _ := config["caBundle"].(string)
			if bundle, err := base64.StdEncoding.DecodeString(text); err == nil {
				out = append(out, bundle)
			}
		}
	}
	return out
}

// clientConfigs are the parts of an object that lead to a Service and have a CA bundle for it.
func clientConfigs(object map[string]any, namespace, service string) []map[string]any {
	u := unstructured.Unstructured{Object: object}
	var all []any
	switch u.GroupVersionKind().Group {
	case "apiregistration.k8s.io":
		all = append(all, object["spec"])
	case "admissionregistration.k8s.io":
		hooks, _ := object["webhooks"].([]any)
		for _, hook := range hooks {
			if h, ok := hook.(map[string]any); ok {
				all = append(all, h["clientConfig"])
			}
		}
	case "apiextensions.k8s.io":
		if config, ok, err := unstructured.NestedFieldNoCopy(object, "spec", "conversion", "webhook", "clientConfig"); ok && err == nil {
			all = append(all, config)
		}
	}
	var out []map[string]any
	for _, one := range all {
		config, _ := one.(map[string]any)
		to, _ := config["service"].(map[string]any)
		if to != nil && to["namespace"] == namespace && to["name"] == service {
			out = append(out, config)
		}
	}
	return out
}
