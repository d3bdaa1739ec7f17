package plansteps

import (
	"encoding/json"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Subscription returns the step that keeps an operator which is there for others up to date like any other: by a Subscription.
func (w Writer) Subscription(planName string, choice resolution.Choice) (*v1alpha1.Step, error) {
	gv := v1alpha1.GroupVersion
	sub := v1alpha1.Subscription{
		TypeMeta: metav1.TypeMeta{APIVersion: gv.String(), Kind: v1alpha1.SubscriptionKind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   w.Namespace,
			Name:        generatedName(choice),
			Annotations: map[string]string{v1alpha1.GeneratedByAnnotation: planName},
		},
		Spec: &v1alpha1.SubscriptionSpec{
			CatalogSource: choice.Catalog.Name, CatalogSourceNamespace: choice.Catalog.Namespace,
			Package: choice.Bundle.Package, Channel: choice.Channel, StartingCSV: choice.Bundle.Name,
			InstallPlanApproval: v1alpha1.ApprovalAutomatic,
		},
	}
	manifest, err := json.Marshal(sub)
	if err != nil {
		return nil, fmt.Errorf("encode the Subscription to package %s: %w", choice.Bundle.Package, err)
	}
	return &v1alpha1.Step{
		Resolving: choice.Bundle.Name,
		Status:    v1alpha1.StepStatusUnknown,
		Resource: v1alpha1.StepResource{
			CatalogSource: choice.Catalog.Name, CatalogSourceNamespace: choice.Catalog.Namespace,
			Group: gv.Group, Version: gv.Version, Kind: v1alpha1.SubscriptionKind, Name: sub.Name, Manifest: string(manifest),
		},
	}, nil
}

func generatedName(choice resolution.Choice) string {
	return strings.Join([]string{choice.Bundle.Package, choice.Channel, choice.Catalog.Name, choice.Catalog.Namespace}, "-")
}
