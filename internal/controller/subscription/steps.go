package subscription

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/plan"
	"fairlead.dev/fairlead/internal/unpack"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// content is what a plan consists of: a step for each object of each chosen bundle, and the bundles that they came from, so that
// the objects can be had again when the content store has lost them.
func (c *Controller) content(ctx context.Context, s *state, g *group, p *v1alpha1.InstallPlan, bundles []unpack.State) (v1alpha1.InstallPlanStatus, error) {
	status := v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, CatalogSources: []string{}}
	if p.Spec.Approval == v1alpha1.ApprovalManual && !p.Spec.Approved {
		status.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	}
	for i, choice := range g.Choices {
		steps, err := c.stepsOf(ctx, s.Name, choice, bundles[i].Bundle)
		if err != nil {
			return status, err
		}
		if len(choice.Subscriptions) == 0 {
			step, err := subscriptionStep(s.Name, p.Name, choice)
			if err != nil {
				return status, err
			}
			steps = append(steps, step)
		}
		status.Plan = append(status.Plan, steps...)
		status.BundleLookups = append(status.BundleLookups, lookup(choice, bundles[i].Pinned))
		if name := choice.Catalog.Name; !slices.Contains(status.CatalogSources, name) {
			status.CatalogSources = append(status.CatalogSources, name)
		}
	}
	slices.SortStableFunc(status.Plan, func(a, b *v1alpha1.Step) int { return cmp.Compare(rank(a), rank(b)) })
	return status, nil
}

// rank orders the steps of a plan: ClusterServiceVersions, because other objects name them as owners, then
// CustomResourceDefinitions, then the rest.
func rank(s *v1alpha1.Step) int {
	switch s.Resource.Kind {
	case v1alpha1.ClusterServiceVersionKind:
		return 0
	case "CustomResourceDefinition":
		return 1
	}
	return 2
}

func (c *Controller) stepsOf(ctx context.Context, namespace string, choice plan.Choice, b *bundle.Bundle) ([]*v1alpha1.Step, error) {
	rendered, err := bundle.PlanSteps(b, bundle.StepTarget{Namespace: namespace, Replaces: choice.Replaces, Properties: choice.Bundle.Properties})
	if err != nil {
		return nil, fmt.Errorf("render the objects of bundle %s for namespace %s: %w", choice.Bundle.Name, namespace, err)
	}
	steps := make([]*v1alpha1.Step, len(rendered))
	for i, r := range rendered {
		manifest, err := json.Marshal(r.Object)
		if err != nil {
			return nil, fmt.Errorf("encode %s %s of bundle %s: %w", r.Kind, r.Object.GetName(), choice.Bundle.Name, err)
		}
		text, err := c.Manifests.Refer(ctx, manifest)
		if err != nil {
			return nil, fmt.Errorf("plan %s %s of bundle %s: %w", r.Kind, r.Object.GetName(), choice.Bundle.Name, err)
		}
		steps[i] = step(choice, r.Kind, r.Object, text)
	}
	return steps, nil
}

func step(choice plan.Choice, kind string, object *unstructured.Unstructured, manifest string) *v1alpha1.Step {
	gvk := object.GroupVersionKind()
	return &v1alpha1.Step{
		Resolving: choice.Bundle.Name,
		Status:    v1alpha1.StepStatusUnknown,
		Resource: v1alpha1.StepResource{
			CatalogSource: choice.Catalog.Name, CatalogSourceNamespace: choice.Catalog.Namespace,
			Group: gvk.Group, Version: gvk.Version, Kind: kind, Name: object.GetName(), Manifest: manifest,
		},
	}
}

// subscriptionStep keeps an operator that is there for others up to date like any other: by a Subscription.
func subscriptionStep(namespace, planName string, choice plan.Choice) (*v1alpha1.Step, error) {
	sub := v1alpha1.Subscription{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   namespace,
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
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.SubscriptionKind))
	object.SetName(sub.Name)
	return step(choice, v1alpha1.SubscriptionKind, object, string(manifest)), nil
}

func generatedName(choice plan.Choice) string {
	return strings.Join([]string{choice.Bundle.Package, choice.Channel, choice.Catalog.Name, choice.Catalog.Namespace}, "-")
}

// lookup records where the objects of a bundle came from.
func lookup(choice plan.Choice, pinned string) v1alpha1.BundleLookup {
	record := struct {
		Properties []catalog.Property `json:"properties,omitempty"`
	}{choice.Bundle.Properties}
	properties, err := json.Marshal(record)
	if err != nil {
		properties = []byte("{}") // a property that is not JSON was refused when the catalog was loaded
	}
	return v1alpha1.BundleLookup{
		Path: pinned, Identifier: choice.Bundle.Name, Replaces: choice.Replaces, Properties: string(properties),
		CatalogSourceRef: &corev1.ObjectReference{Namespace: choice.Catalog.Namespace, Name: choice.Catalog.Name},
	}
}
