package installplan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/tenancy"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What begins the message of a plan that waits for approval, so that it can be withdrawn: operators of it could not run, or it would drop a version
// of an API that is served.
const (
	misfitPrefix = "not worth approving as it is: "
	dropsPrefix  = "approve with care: "
)

// isAdvised reports whether a message says what approving a plan would lead to.
func isAdvised(message string) bool {
	return strings.HasPrefix(message, misfitPrefix) || strings.HasPrefix(message, dropsPrefix)
}

// adviseOnApproval reports in a plan that waits for approval what blocks it: operators that could not run in the targets of the group, with the group
// that would do, and CRDs that may not be replaced. It reports served versions that the plan drops, too. What cannot be read yet is reported when the plan
// is carried out.
func (c *Controller) adviseOnApproval(ctx context.Context, plan *v1alpha1.InstallPlan, group *operatorsv1.OperatorGroup, next *planStatus) {
	x := c.newExecution(plan)
	misfits, read := x.misfits(ctx, group)
	refused, drops, err := x.judgeCRDs(ctx, c)
	misfits = append(misfits, refused...)
	advised := isAdvised(next.Message)
	switch {
	case advised && (!read || err != nil): // nothing says that it is otherwise now
	case len(misfits) > 0:
		next.Message = misfitPrefix + strings.Join(append(misfits, drops...), "; ")
	case len(drops) > 0:
		next.Message = dropsPrefix + strings.Join(drops, "; ")
	case advised:
		next.Message = ""
	}
}

// holds tells whether the plan has to wait for another OperatorGroup, and notes which. An operator that a pass has made already holds nothing:
// its ClusterServiceVersion says what is the matter, as it does of operators that no group fits.
func (x *execution) holds(ctx context.Context, group *operatorsv1.OperatorGroup) bool {
	if group == nil {
		return false
	}
	misfits, _ := x.misfits(ctx, group) // what cannot be read stops the pass anyway
	hopeless := func(csv *v1alpha1.ClusterServiceVersion) bool {
		modes, err := tenancy.Modes(csv)
		return err != nil || !slices.Contains(slices.Collect(maps.Values(modes)), true)
	}
	if len(misfits) > 0 && !slices.ContainsFunc(slices.Collect(maps.Values(x.incoming)), hopeless) {
		x.held = "waiting for an OperatorGroup that fits: " + strings.Join(misfits, "; ")
	}
	return x.held != ""
}

// held is the status of a plan that waits for another OperatorGroup. When nothing of it has been done it has not begun, and neither has one that
// failed and is retried: it is verified again first.
func held(old *planStatus, next planStatus, message string, now time.Time) planStatus {
	next.Message, next.Conditions = message, slices.Clone(old.Conditions)
	if next.StartTime = old.StartTime; old.Phase == v1alpha1.InstallPlanPhaseFailed {
		next.StartTime = nil
	}
	setInstalled(&next, v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanInstalled, v1alpha1.InstallPlanReasonInstallCheckFailed, message), now)
	return next
}

// isHeld tells whether a plan has waited for its OperatorGroup to be in order so far, and nothing of it has been done.
func isHeld(s *planStatus) bool {
	return s.StartTime == nil && s.GetCondition(v1alpha1.InstallPlanInstalled).Reason == v1alpha1.InstallPlanReasonInstallCheckFailed
}

// misfits are the operators of a plan that could not run in the targets of a group, and which group would do; false when one of them could
// not be read.
func (x *execution) misfits(ctx context.Context, group *operatorsv1.OperatorGroup) (misfits []string, read bool) {
	read = true
	for _, step := range x.plan.Status.Plan {
		if step.Resource.Kind != v1alpha1.ClusterServiceVersionKind || finished(step.Status) {
			continue
		}
		if x.writer.read(ctx, &stepRun{step: step}) != nil {
			read = false
			continue
		}
		csv := x.incoming[step.Resource.Name]
		if missing := tenancy.Supports(csv, group); missing != nil {
			misfits = append(misfits, fmt.Sprintf("ClusterServiceVersion %s: %v; %s", csv.Name, missing, tenancy.Advice(csv, group.Namespace, group.Name)))
		}
	}
	return misfits, read
}

// judgeCRDs returns the reasons not to replace CRDs of a plan that are known without reading their objects, and the served versions that the plan drops.
func (x *execution) judgeCRDs(ctx context.Context, c *Controller) (refused, drops []string, _ error) {
	for _, step := range x.plan.Status.Plan {
		if s := (&stepRun{step: step, due: true}); step.Resource.Kind == crdKind && !finished(step.Status) {
			if err := x.writer.read(ctx, s); err != nil {
				return nil, nil, err
			}
			x.steps = append(x.steps, s)
		}
	}
	if len(x.existingCRDs(ctx)) == 0 {
		return nil, nil, nil
	}
	if err := x.findOperators(ctx, c); err != nil {
		return nil, nil, err
	}
	if err := x.replaced.readGroups(ctx); err != nil {
		return nil, nil, err
	}
	for _, s := range x.replaced.crdSteps(ctx) {
		for _, f := range s.verdict.Warnings {
			if f.Check == crd.ServedVersionRemoval {
				drops = append(drops, f.Sentence())
			}
		}
	}
	for _, s := range x.steps {
		switch err := s.result.err; {
		case err == nil:
		case apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
			return nil, nil, err
		default:
			refused = append(refused, err.Error())
		}
	}
	return refused, drops, nil
}
