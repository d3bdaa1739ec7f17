package resolution

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// maxInlined bounds, in bytes of JSON, the manifests that a plan holds itself. Further ones are references into the content store.
	maxInlined = 512 << 10
	// MaxPlanContent bounds, in bytes of JSON, the steps and bundle lookups of a plan. etcd takes 1.5 MiB by default: what is left over has room for
	// all annotations that an object may have (256 KiB), for the messages of every pass, and for managed fields.
	MaxPlanContent = 1 << 20
	// referenced is the size in bytes of JSON from which a reference is smaller than the manifest.
	referenced = 256
)

// Manifests keeps the manifests of steps: it returns what a step should hold for one.
type Manifests interface {
	Refer(ctx context.Context, manifest []byte) (string, error)
	// Store returns a reference even for a small manifest.
	Store(ctx context.Context, manifest []byte) (string, error)
}

// PlanWriter makes the steps of plans for one namespace.
type PlanWriter struct {
	Manifests Manifests
	Namespace string
}

// Steps returns a step for each object of a chosen bundle, the ClusterServiceVersion first. Its error wraps bundle.ErrUnwritable when the API server
// would never take one of them.
func (w PlanWriter) Steps(ctx context.Context, choice Choice, b *bundle.Bundle) ([]*v1alpha1.Step, error) {
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
func (w PlanWriter) Step(ctx context.Context, choice Choice, kind string, object *unstructured.Unstructured) (*v1alpha1.Step, error) {
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

// OrderSteps puts the steps of a plan in the order in which they are listed: ClusterServiceVersions, because other objects name them as
// owners, then CustomResourceDefinitions, then the rest.
func OrderSteps(steps []*v1alpha1.Step) {
	place := func(s *v1alpha1.Step) int {
		switch s.Resource.Kind {
		case v1alpha1.ClusterServiceVersionKind:
			return 0
		case "CustomResourceDefinition":
			return 1
		}
		return 2
	}
	slices.SortStableFunc(steps, func(a, b *v1alpha1.Step) int { return cmp.Compare(place(a), place(b)) })
}

// Subscription returns the step that keeps an operator which is there for others up to date like any other: by a Subscription.
func (w PlanWriter) Subscription(planName string, choice Choice) (*v1alpha1.Step, error) {
	gv := v1alpha1.GroupVersion
	sub := v1alpha1.Subscription{
		TypeMeta: metav1.TypeMeta{APIVersion: gv.String(), Kind: v1alpha1.SubscriptionKind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   w.Namespace,
			Name:        strings.Join([]string{choice.Bundle.Package, choice.Channel, choice.Catalog.Name, choice.Catalog.Namespace}, "-"),
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

// Fit keeps the content of a plan small enough for the plan to be written, now and whenever its status changes. It turns inlined manifests into
// references from the step on where they exceed maxInlined. Subscriptions stay: no bundle holds them, so they could not be restored from one.
// Content that exceeds MaxPlanContent even so is refused with an error that wraps bundle.ErrUnwritable.
func (w PlanWriter) Fit(ctx context.Context, status *v1alpha1.InstallPlanStatus) error {
	inlined := 0
	for _, s := range status.Plan {
		size := encodedSize(s.Resource.Manifest)
		if size > referenced && inlined+size > maxInlined && s.Resource.Kind != v1alpha1.SubscriptionKind {
			text, err := w.Manifests.Store(ctx, []byte(s.Resource.Manifest))
			if err != nil {
				return fmt.Errorf("plan %s %s of bundle %s: %w", s.Resource.Kind, s.Resource.Name, s.Resolving, err)
			}
			s.Resource.Manifest, size = text, encodedSize(text)
		}
		inlined += size
	}
	content := encodedSize(v1alpha1.InstallPlanStatus{Plan: status.Plan, BundleLookups: status.BundleLookups})
	if content > MaxPlanContent {
		return fmt.Errorf("list the %d objects of the bundles in one InstallPlan: %w: the list has %d bytes without the manifests, and the limit is %d: "+
			"ask the authors of the bundles for fewer objects, such as one ConfigMap in place of many", len(status.Plan), bundle.ErrUnwritable, content, MaxPlanContent)
	}
	return nil
}

// encodedSize is the size of a value as the API server stores it.
func encodedSize(value any) int {
	text, err := json.Marshal(value)
	if err != nil {
		return MaxPlanContent + 1 // texts and lists of them always encode
	}
	return len(text)
}
