package plansteps

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/resolution"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Manifests keeps the manifests of steps: it returns what a step should hold for one.
type Manifests interface {
	Refer(ctx context.Context, manifest []byte) (string, error)
	// Store returns a reference even for a small manifest.
	Store(ctx context.Context, manifest []byte) (string, error)
}

// Writer makes the steps of plans for one namespace.
type Writer struct {
	Manifests Manifests
	Namespace string
}

// Steps returns a step for each object of a chosen bundle, the ClusterServiceVersion first. Its error wraps bundle.ErrUnwritable when the API server
// would never take one of them.
func (w Writer) Steps(ctx context.Context, choice resolution.Choice, b *bundle.Bundle) ([]*v1alpha1.Step, error) {
	rendered, err := bundle.PlanSteps(b, bundle.StepTarget{Namespace: w.Namespace, Replaces: choice.Replaces, Properties: choice.Bundle.Properties})
	if err != nil {
		return nil, fmt.Errorf("render the objects of bundle %s for namespace %s: %w", choice.Bundle.Name, w.Namespace, err)
	}
	objects := make([]*unstructured.Unstructured, len(rendered))
	for i, r := range rendered {
		objects[i] = r.Object
	}
	if err := bundle.Writable(objects); err != nil {
		return nil, fmt.Errorf("plan bundle %s: %w", choice.Bundle.Name, err)
	}
	steps := make([]*v1alpha1.Step, len(rendered))
	for i, r := range rendered {
		if steps[i], err = w.Step(ctx, choice, r.Kind, r.Object); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// Step returns the step for one object, listed under a kind.
func (w Writer) Step(ctx context.Context, choice resolution.Choice, kind string, object *unstructured.Unstructured) (*v1alpha1.Step, error) {
	manifest, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s of bundle %s: %w", kind, object.GetName(), choice.Bundle.Name, err)
	}
	text, err := w.Manifests.Refer(ctx, manifest)
	if err != nil {
		return nil, fmt.Errorf("plan %s %s of bundle %s: %w", kind, object.GetName(), choice.Bundle.Name, err)
	}
	gvk := object.GroupVersionKind()
	return &v1alpha1.Step{
		Resolving: choice.Bundle.Name,
		Status:    v1alpha1.StepStatusUnknown,
		Resource: v1alpha1.StepResource{
			CatalogSource: choice.Catalog.Name, CatalogSourceNamespace: choice.Catalog.Namespace,
			Group: gvk.Group, Version: gvk.Version, Kind: kind, Name: object.GetName(), Manifest: text,
		},
	}, nil
}

// Order puts the steps of a plan in the order in which they are listed: ClusterServiceVersions, because other objects name them as
// owners, then CustomResourceDefinitions, then the rest.
func Order(steps []*v1alpha1.Step) {
	slices.SortStableFunc(steps, func(a, b *v1alpha1.Step) int { return cmp.Compare(rank(a), rank(b)) })
}

func rank(s *v1alpha1.Step) int {
	switch s.Resource.Kind {
	case v1alpha1.ClusterServiceVersionKind:
		return 0
	case "CustomResourceDefinition":
		return 1
	}
	return 2
}
