package registryv1

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// webhookName is the name of the configuration for a webhook, and of the webhook in it. It is always the same, so that a new version takes the
// configuration over.
func webhookName(w v1alpha1.WebhookDescription) string {
	return strings.TrimSuffix(w.GenerateName, "-")
}

// webhookOptions limit admission webhooks to the target namespaces.
func (r *renderer) webhookOptions() bundle.WebhookOptions {
	o := bundle.WebhookOptions{Certs: r.certs}
	if !r.all() {
		o.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: r.targets,
		}}}
	}
	return o
}

func (r *renderer) validatingWebhooks() ([]runtime.Object, error) {
	made, err := bundle.ValidatingWebhooks(r.csv, r.webhookOptions())
	return settled(r, made, func(c *admissionv1.ValidatingWebhookConfiguration) (*string, string) {
		return &c.Webhooks[0].Name, c.Webhooks[0].ClientConfig.Service.Name
	}), err
}

func (r *renderer) mutatingWebhooks() ([]runtime.Object, error) {
	made, err := bundle.MutatingWebhooks(r.csv, r.webhookOptions())
	return settled(r, made, func(c *admissionv1.MutatingWebhookConfiguration) (*string, string) {
		return &c.Webhooks[0].Name, c.Webhooks[0].ClientConfig.Service.Name
	}), err
}

// settled gives configurations the name that stays, which the only webhook of each has as well, and what the API server is to trust. The
// name of that webhook and its Service are what webhook returns.
func settled[T interface {
	runtime.Object
	metav1.Object
	metav1.ObjectMetaAccessor
}](r *renderer, made []T, webhook func(T) (*string, string)) []runtime.Object {
	var out []runtime.Object
	for _, c := range made {
		name, service := webhook(c)
		*name = strings.TrimSuffix(*name, "-")
		*c.GetObjectMeta().(*metav1.ObjectMeta) = metav1.ObjectMeta{Name: *name}
		r.injectCA(c, service)
		out = append(out, c)
	}
	return out
}
