package clusterextension

import (
	"encoding/base64"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// trusting is an object that trusts the authorities of the Services that it leads to: a webhook configuration, a CRD with a conversion
// webhook, or an APIService. Others, and those that lead elsewhere, are returned as they are; nothing is changed in place.
func trusting(u *unstructured.Unstructured, namespace string, trusted authorities) *unstructured.Unstructured {
	if len(trusted) == 0 {
		return u
	}
	switch u.GroupVersionKind().Group {
	case "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io":
	default:
		return u
	}
	out := u.DeepCopy()
	for _, config := range clientConfigs(out) {
		service, _, _ := unstructured.NestedMap(config, "service")
		name, _ := service["name"].(string)
		if ca, ok := trusted[name]; ok && service["namespace"] == namespace {
			config["caBundle"] = base64.StdEncoding.EncodeToString(ca)
		}
	}
	return out
}

// clientConfigs are the parts of an object that name a Service and what to trust for it.
func clientConfigs(u *unstructured.Unstructured) []map[string]any {
	var all []map[string]any
	spec, _ := u.Object["spec"].(map[string]any)
	if u.GetKind() == "APIService" && spec != nil {
		return append(all, spec)
	}
	hooks, _ := u.Object["webhooks"].([]any)
	for _, hook := range hooks {
		if h, ok := hook.(map[string]any); ok {
			if config, ok := h["clientConfig"].(map[string]any); ok {
				all = append(all, config)
			}
		}
	}
	conversion, _ := spec["conversion"].(map[string]any)
	webhook, _ := conversion["webhook"].(map[string]any)
	if config, ok := webhook["clientConfig"].(map[string]any); ok {
		all = append(all, config)
	}
	return all
}
