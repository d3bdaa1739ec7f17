package installplan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
)

// isUnresolved tells whether the steps of a plan are still to be found: it is written by hand, has not begun, and has no steps, or those
// that were found are not those of what its spec names now.
func isUnresolved(p *v1alpha1.InstallPlan) bool {
	if !p.IsHandWritten() || p.Status.StartTime != nil || !unfinished(p) {
		return false
	}
	resolved := p.Status.GetCondition(v1alpha1.InstallPlanResolved)
	return len(p.Status.Plan) == 0 || resolved.Status == corev1.ConditionTrue && resolved.Message != resolvedText(&p.Spec)
}

// awaitContent reports by an Event, which leaves the plan as it is, that a plan which is written by hand, names nothing and has no steps still has
// none when its writer should have written them. Tools that create one write its steps next, into its status: they would meet a conflict if
// anything was written there before. After an hour its writer has given up.
func (c *Controller) awaitContent(plan *v1alpha1.InstallPlan) ctrl.Result {
	switch age := c.Clock.Now().Sub(plan.CreationTimestamp.Time); {
	case age < stepsDue:
		return ctrl.Result{RequeueAfter: stepsDue - age}
	case age < time.Hour:
		c.events.Event(plan, corev1.EventTypeWarning, bareReason, "spec.clusterServiceVersionNames is empty and status.plan has no steps, so there is nothing to do: "+
			"name the ClusterServiceVersions to install, write the steps, or delete the InstallPlan")
	}
	return ctrl.Result{}
}

// bareReason is that of the Event.
const bareReason = "NothingToInstall"

// resolvedText is the message of the condition Resolved. It names what the steps were found for, so that a change of that is seen.
func resolvedText(spec *v1alpha1.InstallPlanSpec) string {
	text := "the steps are those of " + strings.Join(spec.ClusterServiceVersionNames, ", ")
	switch {
	case spec.CatalogSource != "":
		text += fmt.Sprintf(" in catalog %s/%s", spec.CatalogSourceNamespace, spec.CatalogSource)
	case spec.CatalogSourceNamespace != "":
		text += " in catalogs of namespace " + spec.CatalogSourceNamespace
	}
	return text
}

// resolver finds the steps of plans that people wrote.
type resolver struct{ *Controller }

// resolve finds the steps of a plan that people wrote, or says what is in the way. It never gives up: catalogs, operators and
// registries change.
func (c resolver) resolve(ctx context.Context, plan *v1alpha1.InstallPlan) (ctrl.Result, error) {
	seen, err := c.survey(ctx, plan)
	if err != nil {
		return ctrl.Result{}, err
	}
	found, err := seen.decide(ctx, &plan.Spec)
	if err != nil {
		return ctrl.Result{}, err
	}
	next := planStatus{Phase: v1alpha1.InstallPlanPhasePlanning, CatalogSources: []string{}}
	var retry time.Duration
	if found.problem == "" {
		fetched := c.fetchAll(ctx, seen, found.choices)
		if found.problem, retry = fetched.problem, fetched.retry; found.problem == "" {
			next, err = c.compose(ctx, plan, seen, found, fetched)
		} else {
			next.BundleLookups = fetched.lookups
		}
	}
	if err != nil {
		found, retry = unresolvable(v1alpha1.InstallPlanReasonPlanUnknown, err.Error()), retrySecrets
		next = planStatus{Phase: v1alpha1.InstallPlanPhasePlanning, CatalogSources: []string{}}
	}
	return ctrl.Result{RequeueAfter: retry}, c.reportResolved(ctx, plan, next, found)
}

// reportResolved writes what came of the search for steps, if that is something new. Conditions keep their times where they say the same.
func (c resolver) reportResolved(ctx context.Context, plan *v1alpha1.InstallPlan, next planStatus, found finding) error {
	now := metav1.NewTime(c.Clock.Now().Truncate(time.Second))
	resolved := v1alpha1.NewInstallPlanMet(v1alpha1.InstallPlanResolved)
	resolved.Message = resolvedText(&plan.Spec)
	if next.Message = found.problem; found.problem != "" {
		resolved = v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanResolved, found.reason, found.problem)
	}
	next.Conditions = slices.Clone(plan.Status.Conditions)
	removeCondition(&next, v1alpha1.InstallPlanInstalled)
	if old := next.GetCondition(resolved.Type); !old.Equals(resolved) {
		next.SetCondition(resolved, now)
	}
	next = withVerdict(bounded(next), plan.Generation, now)
	// Give the conditions of lookups their times: those that they had where they say the same.
	lookups := next.BundleLookups
	for i := range lookups {
		wanted := lookups[i].Conditions
		lookups[i].Conditions = nil
		for j := range plan.Status.BundleLookups {
			if plan.Status.BundleLookups[j].Identifier == lookups[i].Identifier {
				lookups[i].Conditions = append(lookups[i].Conditions, plan.Status.BundleLookups[j].Conditions...)
			}
		}
		setConditions(&lookups[i], wanted, now, v1alpha1.BundleLookupPending, v1alpha1.BundleLookupFailed, v1alpha1.BundleLookupNotPersisted, v1alpha1.BundleLookupSignatureVerified)
	}
	if err := c.write(ctx, c.statusWriter(), plan, next); err != nil {
		return c.unreportable(plan, next, err)
	}
	return nil
}

// stepsDue is how long the steps of a plan that a Subscription made may take to be written: they follow the plan at once.
const stepsDue = time.Minute

// awaitSteps says of a plan of a Subscription whose steps do not come that this is so. It may be the copy of another one.
func (c *Controller) awaitSteps(ctx context.Context, plan *v1alpha1.InstallPlan) (ctrl.Result, error) {
	const text = "its Subscription has not written the steps of this plan: delete it to have one made that is still wanted, or take its owner references away to have its steps found by name"
	if !unfinished(plan) && !isJudged(plan) { // it failed before it had steps, as its Subscription reports
		return ctrl.Result{}, c.report(ctx, plan, plan.Status, outcome{})
	}
	if !unfinished(plan) || plan.Status.Message == text {
		return ctrl.Result{}, nil
	}
	if age := c.Clock.Now().Sub(plan.CreationTimestamp.Time); age < stepsDue {
		return ctrl.Result{RequeueAfter: stepsDue - age}, nil
	}
	next := *plan.Status.DeepCopy()
	next.Message = text
	return ctrl.Result{}, c.report(ctx, plan, next, outcome{})
}

// compose writes the steps of a plan that people wrote. Unlike the plans of Subscriptions it brings no Subscriptions for what its
// operators require: no one asked for upgrades.
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
		// List an operator that is there already and that no catalog has: there is nothing to do about it.
		bare := &v1alpha1.ClusterServiceVersion{Spec: csv.Spec}
		bare.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind))
		bare.Namespace, bare.Name = csv.Namespace, csv.Name
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(bare)
		if err != nil {
			return next, err
		}
		choice := resolution.Choice{Bundle: &catalog.BundleInfo{Name: csv.Name}}
		step, err := writer.Step(ctx, choice, v1alpha1.ClusterServiceVersionKind, &unstructured.Unstructured{Object: content})
		if err != nil {
			return next, err
		}
		step.Status = v1alpha1.StepStatusPresent
		next.Plan = append(next.Plan, step)
	}
	resolution.OrderSteps(next.Plan)
	return next, writer.Fit(ctx, &next)
}

// isApproved tells whether a plan may be carried out: a user has approved it, or it says that no one has to.
func isApproved(p *v1alpha1.InstallPlan) bool {
	return p.Spec.Approved || p.Spec.Approval == v1alpha1.ApprovalAutomatic
}
