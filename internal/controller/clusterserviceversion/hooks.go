package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// hooks are the webhooks of a CSV: as they are to be registered, and what is registered for it besides.
type hooks struct {
	configurations []client.Object
	conversions    []bundle.Conversion
	surplus        []client.Object
}

// webhooksInvalid checks the webhook descriptions against the rules and against the rest of the CSV.
func (f *facts) webhooksInvalid(context.Context) (finding, error) {
	if err := checkWebhooks(f.csv); err != nil {
		return seen(err.Error()), nil
	}
	return seenNot, nil
}

func checkWebhooks(csv *v1alpha1.ClusterServiceVersion) error {
	names := map[string]bool{}
	serving := bundle.ServingDeployments(csv)
	for _, description := range csv.Spec.WebhookDefinitions {
		if names[description.GenerateName] {
			return fmt.Errorf("webhook descriptions repeat the generateName %q: give each its own", description.GenerateName)
		}
		names[description.GenerateName] = true
		if !slices.Contains(serving, description.DeploymentName) {
			return fmt.Errorf("webhook %s: deploymentName %q is not among the deployments of the install strategy", description.GenerateName, description.DeploymentName)
		}
		if err := bundle.CheckWebhookRules(description); err != nil {
			return err
		}
	}
	_, err := bundle.Conversions(csv, bundle.WebhookOptions{})
	return err
}

// computeHooks works out the webhooks. A configuration that is registered under another name keeps it.
func (f *facts) computeHooks(ctx context.Context) (*hooks, error) {
	if len(f.csv.Spec.WebhookDefinitions) == 0 {
		surplus, err := f.registered(ctx)
		if err != nil {
			return nil, err
		}
		conversions, err := f.givenUp(ctx)
		return &hooks{surplus: surplus, conversions: conversions}, err
	}
	certificates, err := f.readCertificates(ctx)
	if err != nil {
		return nil, err
	}
	selector, err := f.webhookNamespaces(ctx)
	if err != nil {
		return nil, err
	}
	options := bundle.WebhookOptions{NamespaceSelector: selector, Certs: certificates.bundles(func(c *certificate) []byte { return c.trusted })}
	validating, err1 := bundle.ValidatingWebhooks(f.csv, options)
	mutating, err2 := bundle.MutatingWebhooks(f.csv, options)
	conversions, err3 := bundle.Conversions(f.csv, options)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, refused(err)
	}
	old, err := f.givenUp(ctx)
	if err != nil {
		return nil, err
	}
	out := &hooks{conversions: append(conversions, old...)}
	for _, w := range validating {
		out.configurations = append(out.configurations, w)
	}
	for _, w := range mutating {
		out.configurations = append(out.configurations, w)
	}
	live, err := f.registered(ctx)
	if err != nil {
		return nil, err
	}
	out.surplus = keepNames(out.configurations, live)
	return out, nil
}

// webhookNamespaces limits admission webhooks to the target namespaces of the group: those that carry its label where
// they are named, those that its selector matches else, and all where there is neither.
func (f *facts) webhookNamespaces(ctx context.Context) (*metav1.LabelSelector, error) {
	group, err := f.group(ctx)
	if err != nil || group == nil {
		return nil, err
	}
	if len(group.Spec.TargetNamespaces) > 0 {
		return &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.OperatorGroupUIDLabelPrefix + string(group.UID): ""}}, nil
	}
	return group.Spec.Selector.DeepCopy(), nil
}

// registered reads the webhook configurations that carry the owner labels of the CSV.
func (f *facts) registered(ctx context.Context) ([]client.Object, error) {
	owned := client.MatchingFields{indexByOwner: f.name()}
	var validating admissionv1.ValidatingWebhookConfigurationList
	if err := f.c.client.List(ctx, &validating, owned); err != nil {
		return nil, fmt.Errorf("list the ValidatingWebhookConfigurations of ClusterServiceVersion %s: %w", f.name(), err)
	}
	var mutating admissionv1.MutatingWebhookConfigurationList
	if err := f.c.client.List(ctx, &mutating, owned); err != nil {
		return nil, fmt.Errorf("list the MutatingWebhookConfigurations of ClusterServiceVersion %s: %w", f.name(), err)
	}
	var out []client.Object
	for i := range validating.Items {
		out = append(out, &validating.Items[i])
	}
	for i := range mutating.Items {
		out = append(out, &mutating.Items[i])
	}
	return out, nil
}

// keepNames gives each wanted configuration the name under which it is registered, found by the label with its
// generateName, and returns the registered ones that nothing is wanted from.
func keepNames(wanted, live []client.Object) (surplus []client.Object) {
	taken := map[client.Object]bool{}
	take := func(w client.Object, fits func(client.Object) bool) bool {
		for _, l := range live {
			if !taken[l] && kindOf(l) == kindOf(w) && fits(l) {
				taken[l] = true
				w.SetName(l.GetName())
				return true
			}
		}
		return false
	}
	var rest []client.Object
	for _, w := range wanted {
		if !take(w, func(l client.Object) bool { return l.GetName() == w.GetName() }) {
			rest = append(rest, w)
		}
	}
	for _, w := range rest {
		generateName := w.GetLabels()[v1alpha1.WebhookGenerateNameLabel]
		take(w, func(l client.Object) bool { return l.GetLabels()[v1alpha1.WebhookGenerateNameLabel] == generateName })
	}
	for _, l := range live {
		if !taken[l] {
			surplus = append(surplus, l)
		}
	}
	return surplus
}
