package installplan

import (
	"context"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// compose writes the steps of a plan that people wrote. Unlike the plans of Subscriptions it brings no Subscriptions for what its
// operators require: nobody asked for upgrades.
func (c resolver) compose(ctx context.Context, p *v1alpha1.InstallPlan, s *survey, found finding, f fetched) (planStatus, error) {
	next := planStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, CatalogSources: []string{}, BundleLookups: f.lookups}
	if !isApproved(p) {
		next.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	}
	writer := resolution.PlanWriter{Manifests: c.Manifests, Namespace: s.Name}
	for i, choice := range found.choices {
		steps, err := writer.Steps(ctx, choice, f.states[i].Bundle)
		if err != nil {
			return next, err
		}
		next.Plan = append(next.Plan, steps...)
		if name := choice.Catalog.Name; !slices.Contains(next.CatalogSources, name) {
			next.CatalogSources = append(next.CatalogSources, name)
		}
	}
	for _, csv := range found.present {
		step, err := presentStep(ctx, writer, csv)
		if err != nil {
			return next, err
		}
		next.Plan = append(next.Plan, step)
	}
	resolution.OrderSteps(next.Plan)
	return next, writer.Fit(ctx, &next)
}

// presentStep lists an operator that is there already and that no catalog has: there is nothing to do about it.
func presentStep(ctx context.Context, w resolution.PlanWriter, csv *v1alpha1.ClusterServiceVersion) (*v1alpha1.Step, error) {
	bare := &v1alpha1.ClusterServiceVersion{Spec: csv.Spec}
	bare.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind))
	bare.Namespace, bare.Name = csv.Namespace, csv.Name
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(bare)
	if err != nil {
		return nil, err
	}
	choice := resolution.Choice{Bundle: &catalog.BundleInfo{Name: csv.Name}}
	step, err := w.Step(ctx, choice, v1alpha1.ClusterServiceVersionKind, &unstructured.Unstructured{Object: content})
	if err != nil {
		return nil, err
	}
	step.Status = v1alpha1.StepStatusPresent
	return step, nil
}

// isApproved tells whether a plan may be carried out: somebody has approved it, or it says that nobody has to.
func isApproved(p *v1alpha1.InstallPlan) bool {
	return p.Spec.Approved || p.Spec.Approval == v1alpha1.ApprovalAutomatic
}
