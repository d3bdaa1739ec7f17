package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/crds"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// WebhookOptions are what the webhooks of a ClusterServiceVersion depend on besides itself.
type WebhookOptions struct {
	// NamespaceSelector limits admission webhooks to the target namespaces; nil means all namespaces.
	NamespaceSelector *metav1.LabelSelector
	// Certs are the serving certificates by Deployment name, as in DeploymentOptions.
	Certs map[string]ServingCert
}

// ValidatingWebhooks returns a configuration for each validating webhook of a ClusterServiceVersion, in its order. The
// name is the description's generateName, cut to what the name has room for, and a hash of the namespace and name of the
// ClusterServiceVersion.
func ValidatingWebhooks(csv *v1alpha1.ClusterServiceVersion, o WebhookOptions) ([]*admissionv1.ValidatingWebhookConfiguration, error) {
	return validatingWebhooks(csv, owned{csv}, o)
}

func validatingWebhooks(csv *v1alpha1.ClusterServiceVersion, d dialect, o WebhookOptions) ([]*admissionv1.ValidatingWebhookConfiguration, error) {
	var out []*admissionv1.ValidatingWebhookConfiguration
	for i := range csv.Spec.WebhookDefinitions {
		description := csv.Spec.WebhookDefinitions[i].DeepCopy()
		if description.Type != v1alpha1.ValidatingAdmissionWebhook {
			continue
		}
		meta, name, err := webhookMeta(csv, d, i, "ValidatingWebhookConfiguration")
		if err != nil {
			return nil, err
		}
		out = append(out, &admissionv1.ValidatingWebhookConfiguration{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingWebhookConfiguration"},
			ObjectMeta: meta,
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name:                    name,
				ClientConfig:            clientConfig(csv, description, o),
				Rules:                   description.Rules,
				FailurePolicy:           description.FailurePolicy,
				MatchPolicy:             description.MatchPolicy,
				NamespaceSelector:       o.NamespaceSelector.DeepCopy(),
				ObjectSelector:          description.ObjectSelector,
				SideEffects:             description.SideEffects,
				TimeoutSeconds:          description.TimeoutSeconds,
				AdmissionReviewVersions: description.AdmissionReviewVersions,
			}},
		})
	}
	return out, nil
}

// MutatingWebhooks returns a configuration for each mutating webhook, as ValidatingWebhooks does for the validating ones.
func MutatingWebhooks(csv *v1alpha1.ClusterServiceVersion, o WebhookOptions) ([]*admissionv1.MutatingWebhookConfiguration, error) {
	return mutatingWebhooks(csv, owned{csv}, o)
}

func mutatingWebhooks(csv *v1alpha1.ClusterServiceVersion, d dialect, o WebhookOptions) ([]*admissionv1.MutatingWebhookConfiguration, error) {
	var out []*admissionv1.MutatingWebhookConfiguration
	for i := range csv.Spec.WebhookDefinitions {
		description := csv.Spec.WebhookDefinitions[i].DeepCopy()
		if description.Type != v1alpha1.MutatingAdmissionWebhook {
			continue
		}
		meta, name, err := webhookMeta(csv, d, i, "MutatingWebhookConfiguration")
		if err != nil {
			return nil, err
		}
		out = append(out, &admissionv1.MutatingWebhookConfiguration{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "MutatingWebhookConfiguration"},
			ObjectMeta: meta,
			Webhooks: []admissionv1.MutatingWebhook{{
				Name:                    name,
				ClientConfig:            clientConfig(csv, description, o),
				Rules:                   description.Rules,
				FailurePolicy:           description.FailurePolicy,
				MatchPolicy:             description.MatchPolicy,
				NamespaceSelector:       o.NamespaceSelector.DeepCopy(),
				ObjectSelector:          description.ObjectSelector,
				SideEffects:             description.SideEffects,
				TimeoutSeconds:          description.TimeoutSeconds,
				AdmissionReviewVersions: description.AdmissionReviewVersions,
				ReinvocationPolicy:      description.ReinvocationPolicy,
			}},
		})
	}
	return out, nil
}

// webhookMeta is the metadata of the configuration for one webhook description, and the name of its webhook.
func webhookMeta(csv *v1alpha1.ClusterServiceVersion, d dialect, index int, kind string) (metav1.ObjectMeta, string, error) {
	if err := CheckWebhookRules(csv.Spec.WebhookDefinitions[index]); err != nil {
		return metav1.ObjectMeta{}, "", fmt.Errorf("render %s of ClusterServiceVersion %s: %w", kind, csv.Name, err)
	}
	return d.webhook(index)
}

func clientConfig(csv *v1alpha1.ClusterServiceVersion, description *v1alpha1.WebhookDescription, o WebhookOptions) admissionv1.WebhookClientConfig {
	return admissionv1.WebhookClientConfig{
		Service: &admissionv1.ServiceReference{
			Namespace: csv.Namespace,
			Name:      ServingServiceName(description.DeploymentName),
			Path:      description.WebhookPath,
			Port:      new(cmp.Or(description.ContainerPort, defaultServingPort)),
		},
		CABundle: o.Certs[description.DeploymentName].CA,
	}
}

// webhookResources are the resources of admissionregistration.k8s.io that a webhook must not intercept, under the
// names that authors use for them.
var webhookResources = []string{
	"*",
	"mutatingwebhookconfiguration", "mutatingwebhookconfigurations",
	"validatingwebhookconfiguration", "validatingwebhookconfigurations",
}

// ErrForbiddenRule is in the error of CheckWebhookRules.
var ErrForbiddenRule = errors.New("webhook rules must leave alone the API groups * and of operator lifecycle management, and webhook configurations")

// CheckWebhookRules refuses a webhook that would intercept the management of operators or of webhooks: it could stop its own removal, and so
// could one on every group.
func CheckWebhookRules(description v1alpha1.WebhookDescription) error {
	for i, rule := range description.Rules {
		for _, group := range rule.APIGroups {
			if group == "*" { // the words are those that clients of the published API look for
				return fmt.Errorf("webhook %s: rules[%d] names the API group %q: webhook rules cannot include all groups: %w", description.GenerateName, i, group, ErrForbiddenRule)
			}
			if slices.Contains(crds.Groups(), group) {
				return fmt.Errorf("webhook %s: rules[%d] names the API group %q: %w", description.GenerateName, i, group, ErrForbiddenRule)
			}
			for _, resource := range rule.Resources {
				name, _, _ := strings.Cut(resource, "/") // without its subresource
				if group == "admissionregistration.k8s.io" && slices.Contains(webhookResources, strings.ToLower(name)) {
					return fmt.Errorf("webhook %s: rules[%d] names the resource %q of %s: %w", description.GenerateName, i, resource, group, ErrForbiddenRule)
				}
			}
		}
	}
	return nil
}
