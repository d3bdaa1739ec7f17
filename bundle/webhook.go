package bundle

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

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
	var out []*admissionv1.ValidatingWebhookConfiguration
	for i := range csv.Spec.WebhookDefinitions {
		description := csv.Spec.WebhookDefinitions[i].DeepCopy()
		if description.Type != v1alpha1.ValidatingAdmissionWebhook {
			continue
		}
		meta, err := webhookMeta(csv, i, "ValidatingWebhookConfiguration")
		if err != nil {
			return nil, err
		}
		out = append(out, &admissionv1.ValidatingWebhookConfiguration{
			TypeMeta:   admissionType("ValidatingWebhookConfiguration"),
			ObjectMeta: meta,
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name:                    description.GenerateName,
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
	var out []*admissionv1.MutatingWebhookConfiguration
	for i := range csv.Spec.WebhookDefinitions {
		description := csv.Spec.WebhookDefinitions[i].DeepCopy()
		if description.Type != v1alpha1.MutatingAdmissionWebhook {
			continue
		}
		meta, err := webhookMeta(csv, i, "MutatingWebhookConfiguration")
		if err != nil {
			return nil, err
		}
		out = append(out, &admissionv1.MutatingWebhookConfiguration{
			TypeMeta:   admissionType("MutatingWebhookConfiguration"),
			ObjectMeta: meta,
			Webhooks: []admissionv1.MutatingWebhook{{
				Name:                    description.GenerateName,
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

func admissionType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: kind}
}

// webhookMeta is the metadata of the configuration for one webhook description. An existing configuration for it is
// found by its labels, whatever its name is.
func webhookMeta(csv *v1alpha1.ClusterServiceVersion, index int, kind string) (metav1.ObjectMeta, error) {
	description := csv.Spec.WebhookDefinitions[index]
	if err := CheckWebhookRules(description); err != nil {
		return metav1.ObjectMeta{}, fmt.Errorf("render %s of ClusterServiceVersion %s: %w", kind, csv.Name, err)
	}
	hash, err := Hash62(description)
	if err != nil {
		return metav1.ObjectMeta{}, err
	}
	labels := union(OwnerLabels(csv), map[string]string{
		v1alpha1.WebhookGenerateNameLabel: cut(description.GenerateName, maxNameLength),
		v1alpha1.WebhookHashLabel:         hash,
		v1alpha1.ManagedLabel:             v1alpha1.ManagedLabelValue,
	})
	place := fmt.Sprintf("%s/%s/%d", csv.Namespace, csv.Name, namesakesBefore(csv, index))
	return metav1.ObjectMeta{Name: configurationPrefix(description) + "-" + fnvHex(place), Labels: labels}, nil
}

// configurationPrefix is what the name of the configuration for a description begins with. A hash and a dash follow it.
func configurationPrefix(description v1alpha1.WebhookDescription) string {
	return cut(description.GenerateName, validation.DNS1123SubdomainMaxLength-len("-")-len(fnvHex("")))
}

// cut shortens a name to so many bytes, so that what is left ends as a name and the value of a label may. The generateName of a webhook
// may be four times as long as a label.
func cut(name string, length int) string {
	if len(name) <= length {
		return name
	}
	return strings.TrimRight(name[:length], "-._")
}

// namesakesBefore counts the earlier descriptions of the same type whose configurations have names that begin alike: usually none.
func namesakesBefore(csv *v1alpha1.ClusterServiceVersion, index int) int {
	count, description := 0, csv.Spec.WebhookDefinitions[index]
	for _, earlier := range csv.Spec.WebhookDefinitions[:index] {
		if earlier.Type == description.Type && configurationPrefix(earlier) == configurationPrefix(description) {
			count++
		}
	}
	return count
}

func clientConfig(csv *v1alpha1.ClusterServiceVersion, description *v1alpha1.WebhookDescription, o WebhookOptions) admissionv1.WebhookClientConfig {
	port := servingPort(description.ContainerPort)
	return admissionv1.WebhookClientConfig{
		Service: &admissionv1.ServiceReference{
			Namespace: csv.Namespace,
			Name:      ServingServiceName(description.DeploymentName),
			Path:      description.WebhookPath,
			Port:      &port,
		},
		CABundle: o.Certs[description.DeploymentName].CA,
	}
}
