package bundle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

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
			if isLifecycleGroup(group) {
				return fmt.Errorf("webhook %s: rules[%d] names the API group %q: %w", description.GenerateName, i, group, ErrForbiddenRule)
			}
			for _, resource := range rule.Resources {
				if group == "admissionregistration.k8s.io" && isWebhookResource(resource) {
					return fmt.Errorf("webhook %s: rules[%d] names the resource %q of %s: %w", description.GenerateName, i, resource, group, ErrForbiddenRule)
				}
			}
		}
	}
	return nil
}

// isWebhookResource looks at the resource of a rule without its subresource.
func isWebhookResource(resource string) bool {
	resource, _, _ = strings.Cut(resource, "/")
	return slices.Contains(webhookResources, strings.ToLower(resource))
}
