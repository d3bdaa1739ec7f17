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
	"fairlead.dev/fairlead/internal/tenancy"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// misfitPrefix begins what is said of a plan whose operators could not run, so that it can be taken back.
const misfitPrefix = "not worth approving as it is: "

// tellMisfits says in a plan that waits for approval what is in its way: operators that could not run in the targets of the group, with the
// group that would do, and CRDs that belong to others. What cannot be read yet is told of when the plan is carried out.
func (c *Controller) tellMisfits(ctx context.Context, plan *v1alpha1.InstallPlan, group *operatorsv1.OperatorGroup, next *planStatus) {
	x := c.newExecution(plan)
	misfits, read := x.misfits(ctx, group)
	refused, err := x.refusedCRDs(ctx, c)
	misfits = append(misfits, refused...)
	told := strings.HasPrefix(next.Message, misfitPrefix)
	switch {
	case told && (!read || err != nil): // nothing says that it is otherwise now
	case len(misfits) > 0:
		next.Message = misfitPrefix + strings.Join(misfits, "; ")
	case told:
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
		if x.read(ctx, &stepRun{step: step}) != nil {
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

// refusedCRDs are the reasons not to replace CRDs of a plan that can be told without a look at their objects.
func (x *execution) refusedCRDs(ctx context.Context, c *Controller) ([]string, error) {
	for _, step := range x.plan.Status.Plan {
		if s := (&stepRun{step: step, due: true}); step.Resource.Kind == crdKind && !finished(step.Status) {
			if err := x.read(ctx, s); err != nil {
				return nil, err
			}
			x.steps = append(x.steps, s)
		}
	}
	if len(x.existingCRDs(ctx)) == 0 {
		return nil, nil
	}
	all, err := x.allOperators(ctx, c)
	if err != nil {
		return nil, err
	}
	x.claimant = newClaimant(x.live, x.plan.Namespace, all, x.installs())
	if err = x.readGroups(ctx); err != nil {
		return nil, err
	}
	x.crdSteps(ctx)
	var refused []string
	for _, s := range x.steps {
		switch err := s.result.err; {
		case err == nil:
		case apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
			return nil, err
		default:
			refused = append(refused, err.Error())
		}
	}
	return refused, nil
}
