package installplan

import (
	"context"
	"slices"

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
			if err := x.live.Get(ctx, client.ObjectKey{Namespace: x.plan.Namespace, Name: s.object.GetName()}, live); err != nil || live.IsCopied() {
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

// newerThan names an operator that has taken the place of another one, and says how: it replaces that, directly or not, or is of its package
// and has a higher version. The catalog may have a lower version replace a higher one: what an operator replaces is never newer than it.
func (all operators) newerThan(o operator, spared func(name string) bool) (name, how string) {
	before, after := all.before(o), map[string]bool{o.name: true}
	for grown := true; grown; {
		grown = false
		for _, there := range all {
			takesOver := after[there.replaces] || slices.ContainsFunc(there.skips, func(name string) bool { return after[name] })
			if there.namespace != o.namespace || before[there.name] || after[there.name] || !takesOver {
				continue
			}
			after[there.name], grown = true, true
			if !there.leaving && !spared(there.name) {
				return there.name, "replaces it"
			}
		}
	}
	unknown := v1alpha1.OperatorVersion{}
	for _, there := range all {
		isHigher := there.namespace == o.namespace && o.pkg != "" && there.pkg == o.pkg && !o.version.EQ(unknown.Version) && there.version.GT(o.version.Version)
		if isHigher && !there.leaving && !before[there.name] && !spared(there.name) {
			return there.name, "is a newer version of package " + o.pkg
		}
	}
	return "", ""
}
