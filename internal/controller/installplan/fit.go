package installplan

import (
	"context"
	"fmt"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/tenancy"
)

// misfitPrefix begins what is said of a plan whose operators could not run, so that it can be taken back.
const misfitPrefix = "not worth approving as it is: "

// tellMisfits says in a plan that waits for approval which of its operators could not run in the targets of the group, and which group
// would do. What cannot be read yet is told of when the plan is carried out.
func (c *Controller) tellMisfits(ctx context.Context, plan *v1alpha1.InstallPlan, group *operatorsv1.OperatorGroup, next *planStatus) {
	var misfits []string
	x := &execution{plan: plan, manifests: manifests{Manifests: c.Manifests, bundles: c.Bundles, plan: plan}, incoming: map[string]*v1alpha1.ClusterServiceVersion{}}
	unread := false
	for _, step := range plan.Status.Plan {
		if step.Resource.Kind != v1alpha1.ClusterServiceVersionKind {
			continue
		}
		if x.read(ctx, &stepRun{step: step}) != nil {
			unread = true
			continue
		}
		csv := x.incoming[step.Resource.Name]
		if missing := tenancy.Supports(csv, group); missing != nil {
			misfits = append(misfits, fmt.Sprintf("ClusterServiceVersion %s: %v; %s", csv.Name, missing, tenancy.Advice(csv, group.Namespace, group.Name)))
		}
	}
	told := strings.HasPrefix(next.Message, misfitPrefix)
	switch {
	case told && unread: // nothing says that it is otherwise now
	case len(misfits) > 0:
		next.Message = misfitPrefix + strings.Join(misfits, "; ")
	case told:
		next.Message = ""
	}
}
