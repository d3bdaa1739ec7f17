package installplan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/tenancy"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// adviseOnApproval reports in a plan that waits for approval what would make it, or its operators, fail: operators that could not run as members of the
// group, with the group that would do, those that no cluster can install, and CRDs that may not be replaced. It reports served versions that the plan
// drops, too. What cannot be read yet is reported when the plan is carried out.
func (c *Controller) adviseOnApproval(ctx context.Context, plan *v1alpha1.InstallPlan, group *operatorsv1.OperatorGroup, next *planStatus) {
	x := c.newExecution(plan)
	misfits, read := x.failures(ctx, group)
	refused, drops, err := x.judgeCRDs(ctx, c)
	misfits = append(misfits, refused...)
	advised := v1alpha1.IsApprovalAdvice(next.Message)
	switch {
	case advised && (!read || err != nil): // nothing says that it is otherwise now
	case len(misfits) > 0:
		next.Message = v1alpha1.NotWorthApproving + strings.Join(append(misfits, drops...), "; ")
	case len(drops) > 0:
		next.Message = v1alpha1.ApproveWithCare + strings.Join(drops, "; ")
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
	operators, failed := x.readOperators(ctx)
	for _, csv := range operators {
		if missing := tenancy.Supports(csv, group); missing != nil {
			misfits = append(misfits, fmt.Sprintf("ClusterServiceVersion %s: %v; %s", csv.Name, missing, tenancy.Advice(csv, group.Namespace, group.Name)))
		}
	}
	return misfits, len(failed) == 0
}

// failures are the reasons for which operators of a plan could not run or would fail, as far as they are known before anything is done; false when one of
// them could not be read, which may be otherwise later.
func (x *execution) failures(ctx context.Context, group *operatorsv1.OperatorGroup) (failures []string, read bool) {
	operators, unread := x.readOperators(ctx)
	read = true
	for _, err := range unread {
		if read = read && errors.Is(err, errInvalid); errors.Is(err, errInvalid) {
			failures = append(failures, err.Error())
		}
	}
	others, err := x.groups(ctx)
	if err != nil {
		return failures, false
	}
	for _, csv := range operators {
		if err := bundle.CheckInstallable(csv); err != nil {
			failures = append(failures, fmt.Sprintf("ClusterServiceVersion %s would fail once it is installed: %v; ask its author to correct it, or install another version", csv.Name, err))
			continue
		}
		switch m := tenancy.Foresee(csv, group, others); {
		case m == nil:
		case m.Fails:
			failures = append(failures, fmt.Sprintf("ClusterServiceVersion %s would fail once it is installed: %s", csv.Name, m.Reason))
		default:
			failures = append(failures, fmt.Sprintf("ClusterServiceVersion %s: %s; %s", csv.Name, m.Reason, m.Advice))
		}
	}
	return failures, read
}

// readOperators reads the ClusterServiceVersions that a plan has left to install, and returns why others cannot be read.
func (x *execution) readOperators(ctx context.Context) (all []*v1alpha1.ClusterServiceVersion, failed []error) {
	for _, step := range x.plan.Status.Plan {
		if step.Resource.Kind != v1alpha1.ClusterServiceVersionKind || finished(step.Status) {
			continue
		}
		if err := x.writer.read(ctx, &stepRun{step: step}); err != nil {
			failed = append(failed, err)
			continue
		}
		all = append(all, x.incoming[step.Resource.Name])
	}
	return all, failed
}

// groups are the OperatorGroups of all namespaces.
func (x *execution) groups(ctx context.Context) ([]*operatorsv1.OperatorGroup, error) {
	var list operatorsv1.OperatorGroupList
	if err := x.cached.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the OperatorGroups of all namespaces, which may provide the same APIs: %w", err)
	}
	all := make([]*operatorsv1.OperatorGroup, len(list.Items))
	for i := range list.Items {
		all[i] = &list.Items[i]
	}
	return all, nil
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
	if err := x.replaced.definitions.ReadGroups(ctx); err != nil {
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
