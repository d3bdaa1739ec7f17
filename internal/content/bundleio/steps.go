package bundleio

import (
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"

	corev1 "k8s.io/api/core/v1"
)

// Steps renders a bundle once more as the InstallPlan of a namespace did that recorded it by a lookup: the manifests are the same, byte
// for byte, as long as the bundle is.
func Steps(b *bundle.Bundle, namespace string, lookup v1alpha1.BundleLookup) ([]bundle.Step, error) {
	var record struct {
		Properties []catalog.Property `json:"properties"`
	}
	if lookup.Properties != "" {
		if err := json.Unmarshal([]byte(lookup.Properties), &record); err != nil {
			return nil, fmt.Errorf("read the properties of bundle %s: %w", lookup.Identifier, err)
		}
	}
	return bundle.PlanSteps(b, bundle.StepTarget{Namespace: namespace, Replaces: lookup.Replaces, Properties: record.Properties})
}

// LookupOf says where the bundle of a step comes from, and false if nothing says it.
func LookupOf(plan *v1alpha1.InstallPlan, step *v1alpha1.Step) (v1alpha1.BundleLookup, bool) {
	for _, lookup := range plan.Status.BundleLookups {
		if lookup.Identifier == step.Resolving {
			return lookup, true
		}
	}
	foreign, is := ParseForeign(step.Resource.Manifest)
	return v1alpha1.BundleLookup{
		Identifier: step.Resolving, Replaces: foreign.Replaces, Properties: foreign.Properties,
		CatalogSourceRef: &corev1.ObjectReference{Namespace: foreign.CatalogSourceNamespace, Name: foreign.CatalogSourceName},
	}, is
}
