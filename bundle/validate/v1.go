package validate

import (
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// checkV1 finds what is only possible with Subscriptions, and not with ClusterExtensions.
func checkV1(r recorder) {
	if r.csv == nil {
		return
	}
	at := r.csvPlace()
	if len(r.csv.Spec.APIServiceDefinitions.Owned) > 0 {
		r.err(RuleV1APIService, at.in("spec.apiservicedefinitions.owned"), "a ClusterExtension cannot install aggregated APIs", "provide the APIs as CRDs")
	}
	modes, err := v1alpha1.NewInstallModeSet(r.csv.Spec.InstallModes)
	if err == nil && modes[v1alpha1.InstallModeTypeMultiNamespace] && !modes[v1alpha1.InstallModeTypeAllNamespaces] &&
		!modes[v1alpha1.InstallModeTypeSingleNamespace] && !modes[v1alpha1.InstallModeTypeOwnNamespace] {
		r.err(RuleV1InstallModes, at.in("spec.installModes"), "a ClusterExtension cannot watch several namespaces", "support AllNamespaces, SingleNamespace or OwnNamespace")
	}
	seen := map[string]bool{}
	for i, d := range r.csv.Spec.WebhookDefinitions {
		key := string(d.Type) + " " + d.GenerateName
		if seen[key] {
			r.err(RuleV1WebhookName, at.in("spec.webhookdefinitions[%d].generateName", i), fmt.Sprintf("%s is that of an earlier %s", d.GenerateName, d.Type), "give each its own")
		}
		seen[key] = true
	}
}
