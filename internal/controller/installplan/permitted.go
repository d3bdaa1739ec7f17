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
	var first *stepRun // of the ClusterServiceVersions that are left to create
	crds := false
	for _, s := range x.steps {
		switch {
		case !s.due:
		case s.step.Resource.Kind == crdKind:
			crds = true
		case s.step.Resource.Kind == v1alpha1.ClusterServiceVersionKind && first == nil:
			// One that exists is left as it is; the copy of one of another namespace only holds its place.
			live := &v1alpha1.ClusterServiceVersion{}
			if err := x.Live.Get(ctx, client.ObjectKey{Namespace: x.plan.Namespace, Name: s.object.GetName()}, live); err != nil || live.IsCopied() {
				first = s
			}
		}
	}
	if !crds || first == nil {
		return true
	}
	wanted := x.writer.wanted(ctx, first).Wanted.DeepCopy()
	ref := rollout.RefOf(wanted)
	err := account.Create(ctx, wanted, client.DryRunAll, client.FieldOwner(fieldOwner))
	if rollout.IsAuthorized(err) {
		return true
	}
	first.record(rollout.ObjectResult{Ref: ref, Outcome: rollout.Failed, Err: &rollout.RequestError{Verb: "create", Ref: ref, Err: err}}, x.plan)
	return false
}
