package installplan

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/internal/rollout"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leaves reports whether a live CRD is one that the step uses as it is, and whose objects were compared in this pass.
func (x *replacements) leaves(live *unstructured.Unstructured) bool {
	seen := x.crds[live.GetName()]
	return seen != nil && seen.claim.Leave && seen.change.Live.UID == live.GetUID() && seen.change.Live.Generation == live.GetGeneration()
}

// mayPatchCRDs reports whether the account of the plan may itself patch those CRDs that others share, or that no operator has. CRDs are written with
// the manager's rights: without this question a tenant that is confined to an account could change, through a bundle, what the account cannot. The
// API server is asked by a dry run. An answer that it gives before it has judged the rights, such as to a token that is no longer good, allows nothing.
func (x *replacements) mayPatchCRDs(ctx context.Context, account client.Client, crds []*crdStep) bool {
	if account == nil {
		return true
	}
	allowed := true
	for _, s := range crds {
		if !s.claim.Asked {
			continue
		}
		wanted := s.object.DeepCopy()
		ref := rollout.RefOf(wanted)
		err := rollout.Assert(ctx, account, client.ApplyConfigurationFromUnstructured(wanted), fieldOwner, client.DryRunAll)
		if rollout.IsAuthorized(err) {
			continue
		}
		err = fmt.Errorf("other operators share %s, or no operator has it, so the account of the OperatorGroup must be allowed to patch it: %w", ref, err)
		s.record(rollout.ObjectResult{Ref: ref, Outcome: rollout.Failed, Err: &rollout.RequestError{Verb: "change", Ref: ref, Err: err}}, x.plan)
		allowed = false
	}
	return allowed
}
