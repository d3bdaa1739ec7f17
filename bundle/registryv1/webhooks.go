package registryv1

import (
	"strings"

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
	configurations, err := bundle.ValidatingWebhooks(r.csv, r.webhookOptions())
	if err != nil {
		return nil, err
	}
	var out []runtime.Object
	for _, c := range configurations {
		c.Webhooks[0].Name = strings.TrimSuffix(c.Webhooks[0].Name, "-")
		c.ObjectMeta = metav1.ObjectMeta{Name: c.Webhooks[0].Name}
		r.injectCA(c, c.Webhooks[0].ClientConfig.Service.Name)
		out = append(out, c)
	}
	return out, nil
}

func (r *renderer) mutatingWebhooks() ([]runtime.Object, error) {
	configurations, err := bundle.MutatingWebhooks(r.csv, r.webhookOptions())
	if err != nil {
		return nil, err
	}
	var out []runtime.Object
	for _, c := range configurations {
		c.Webhooks[0].Name = strings.TrimSuffix(c.Webhooks[0].Name, "-")
		c.ObjectMeta = metav1.ObjectMeta{Name: c.Webhooks[0].Name}
		r.injectCA(c, c.Webhooks[0].ClientConfig.Service.Name)
		out = append(out, c)
	}
	return out, nil
}
