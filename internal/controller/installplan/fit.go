package installplan

import (
	"context"
	"fmt"
	"strings"

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
	x := c.reading(plan)
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

// reading is an execution that is only there to read the manifests of a plan.
func (c *Controller) reading(plan *v1alpha1.InstallPlan) *execution {
	x := &execution{claimant: claimant{live: c.live}, cached: c.client, plan: plan, manifests: manifests{Manifests: c.Manifests, bundles: c.Bundles, plan: plan},
		incoming: map[string]*v1alpha1.ClusterServiceVersion{}}
	for _, step := range plan.Status.Plan {
		x.steps = append(x.steps, &stepRun{step: step, due: !finished(step.Status)})
	}
	return x
}

// misfits are the operators of a plan that could not run in the targets of a group, and which group would do; false when one of them could
// not be read.
func (x *execution) misfits(ctx context.Context, group *operatorsv1.OperatorGroup) (misfits []string, read bool) {
	read = true
	for _, s := range x.steps {
		if s.step.Resource.Kind != v1alpha1.ClusterServiceVersionKind {
			continue
		}
		if x.read(ctx, s) != nil {
			read = false
			continue
		}
		csv := x.incoming[s.step.Resource.Name]
		if missing := tenancy.Supports(csv, group); missing != nil {
			misfits = append(misfits, fmt.Sprintf("ClusterServiceVersion %s: %v; %s", csv.Name, missing, tenancy.Advice(csv, group.Namespace, group.Name)))
		}
	}
	return misfits, read
}

// refusedCRDs are the reasons not to replace CRDs of a plan that can be told without a look at their objects.
func (x *execution) refusedCRDs(ctx context.Context, c *Controller) ([]string, error) {
	for _, s := range x.steps {
		if s.step.Resource.Kind == crdKind && s.due {
			if err := x.read(ctx, s); err != nil {
				return nil, err
			}
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
	if x.strictCRDs, err = strictCRDs(ctx, x.cached, x.plan.Namespace); err != nil {
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
