package installplan

import (
	"context"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mayInstall tells whether the account of a plan may create its first ClusterServiceVersion, if CRDs are going to be written ahead of it: those
// are the whole cluster's, and must not be changed for an operator that never comes. The API server is asked to create it and to leave it at
// that. What it answers after it has judged the rights, it answers again when it is meant; any other answer allows nothing.
func (x *execution) mayInstall(ctx context.Context, account client.Client) bool {
	if account == nil {
		return true
	}
	s := x.firstOperator(ctx)
	if s == nil {
		return true
	}
	wanted := x.writer.wanted(ctx, s).Wanted.DeepCopy()
	ref := rollout.RefOf(wanted)
	err := account.Create(ctx, wanted, client.DryRunAll, client.FieldOwner(fieldOwner))
	if rollout.IsAuthorized(err) {
		return true
	}
	s.record(rollout.ObjectResult{Ref: ref, Outcome: rollout.Failed, Err: &rollout.RequestError{Verb: "create", Ref: ref, Err: err}}, x.plan)
	return false
}

// firstOperator is the step of the first ClusterServiceVersion that is left to create, where CRDs are left too; nil is none.
func (x *execution) firstOperator(ctx context.Context) *stepRun {
	var first *stepRun
	crds := false
	for _, s := range x.steps {
		switch {
		case !s.due:
		case s.step.Resource.Kind == crdKind:
			crds = true
		case s.step.Resource.Kind == v1alpha1.ClusterServiceVersionKind && first == nil && !x.isThere(ctx, s):
			first = s
		}
	}
	if !crds {
		return nil
	}
	return first
}

// isThere tells whether a ClusterServiceVersion exists, which is left as it is then. The copy of one of another namespace only holds its place.
func (x *execution) isThere(ctx context.Context, s *stepRun) bool {
	live := &v1alpha1.ClusterServiceVersion{}
	err := x.live.Get(ctx, client.ObjectKey{Namespace: x.plan.Namespace, Name: s.object.GetName()}, live)
	return err == nil && !live.IsCopied()
}
