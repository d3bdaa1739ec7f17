package installplan

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/tenancy"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// crdClaim is the claim of a step on a CRD that exists. Who brought a CRD decides, not who lists it as owned: any ClusterServiceVersion may list any.
type crdClaim struct {
	// leave is set for a CRD that no plan brought and that is defined as the step defines it: it is used, and stays that of its author.
	leave bool
	// asked is set where the account of the plan, if it has one, must itself be allowed to patch the CRD.
	asked bool
	// join is set for a CRD that operators elsewhere share and that the step defines equally: nothing but the record of the operator is written.
	join bool
}

// claimCRD judges the claim of a step on a CRD, and tightens the rules for the upgrade where the CRD is not only the plan's own. It returns an
// error when another owner has the CRD.
func (x *ownership) claimCRD(ctx context.Context, u *crd.Change) (crdClaim, error) {
	for _, r := range u.Live.OwnerReferences {
		if h := (rollout.Holder{OwnerReference: r}); r.Controller != nil && *r.Controller && !h.IsOperator() {
			return crdClaim{}, fmt.Errorf("%s %s %s: remove that owner, or move the operator as docs/migrating-to-v1.md describes", crdKind, u.Live.Name, rollout.ControlledBy(h))
		}
	}
	own, others, err := x.bringers(ctx, u.Live)
	if err != nil {
		return crdClaim{}, err
	}
	changes := u.Redefines()
	switch {
	case len(others) > 0:
		u.Joins = u.Joins || !own
		// Add owners that are not among the users of a CRD, and make owners of those that only require it.
		users := u.Others
		for _, o := range others {
			i := slices.IndexFunc(users, func(u crd.Operator) bool { return u.Namespace == o.Namespace && u.Name == o.Name })
			switch {
			case i < 0:
				users = append(users, o)
			case len(users[i].Owns) == 0:
				users[i].Owns = o.Owns
			}
		}
		u.Others = users
		return crdClaim{asked: changes, join: !changes}, nil
	case own && tenancy.Origin(u.Live, x.plan.Namespace) == x.plan.Namespace:
		return crdClaim{}, nil
	}
	u.Unowned = true
	brought := len(tenancy.Bringers(u.Live)) > 0 || isWrittenBy(u.Live, fieldOwner)
	switch {
	case brought || tenancy.MayAdopt(u.Live, x.plan.Namespace):
		return crdClaim{asked: changes, join: !changes}, nil
	case !changes:
		return crdClaim{leave: true}, nil
	}
	return crdClaim{}, fmt.Errorf("%s %s exists, no InstallPlan brought it, and %s defines it otherwise: install a version that brings the same definition; or let operators of namespace %s "+
		"adopt it, which continues only if all stored objects stay valid and lose no field: kubectl annotate crd %s %s=%s",
		crdKind, u.Live.Name, u.By, x.plan.Namespace, u.Live.Name, v1alpha1.AdoptableByAnnotation, x.plan.Namespace)
}

// bringers reports whether the plan's operators, or others of the namespace that are gone, brought a CRD, and returns the operators that brought it,
// exist besides and have a say in it, see tenancy.Counts. One that cannot be read has it, and may use any version.
func (x *ownership) bringers(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (own bool, others []crd.Operator, _ error) {
	for _, by := range tenancy.Bringers(crd) {
		here := by.Namespace == x.plan.Namespace
		if here && x.family[by.Name] {
			own = true
			continue
		}
		o, exists, unread := x.find(ctx, by.Namespace, by.Name)
		if !exists {
			own = own || here
			continue
		}
		user := o.asUser(crd.Name)
		switch {
		case unread != nil:
			user.Owns = []string{""}
		case !x.counts(o, crd):
			continue
		case len(user.Owns) == 0: // it does not own the CRD any more, or its plan has yet to write what it owns
			arrives, err := x.arrives(ctx, by.Namespace, by.Name)
			if err != nil {
				return false, nil, err
			}
			if !arrives {
				continue
			}
			user.Owns = []string{""}
		}
		user.Namespace, user.Name = by.Namespace, by.Name
		others = append(others, user)
	}
	return own, others, nil
}

// isWrittenBy reports whether a field manager has fields of an object.
func isWrittenBy(live metav1.Object, manager string) bool {
	return slices.ContainsFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == manager })
}

// leaves reports whether a live CRD is one that the step uses as it is, and whose objects were compared in this pass.
func (x *replacements) leaves(live *unstructured.Unstructured) bool {
	seen := x.crds[live.GetName()]
	return seen != nil && seen.claim.leave && seen.change.Live.UID == live.GetUID() && seen.change.Live.Generation == live.GetGeneration()
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
		if !s.claim.asked {
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
