package claims

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
)

// Claim is the claim of an InstallPlan on a CRD that exists. Who brought a CRD decides, not who lists it as owned: any ClusterServiceVersion may list any.
type Claim struct {
	// Leave is set for a CRD that no plan brought and that is defined as the plan defines it: it is used, and stays that of its author.
	Leave bool
	// Asked is set where the account of the plan, if it has one, must itself be allowed to patch the CRD.
	Asked bool
	// Join is set for a CRD that operators elsewhere share and that the plan defines equally: nothing but the record of the operator is written.
	Join bool
}

// claimCRD judges the claim of a step on a CRD, and tightens the rules for the upgrade where the CRD is not only the plan's own. It returns an
// error when another owner has the CRD.
func (x *Definitions) claimCRD(ctx context.Context, u *crd.Change) (Claim, error) {
	for _, r := range u.Live.OwnerReferences {
		if h := (rollout.Holder{OwnerReference: r}); r.Controller != nil && *r.Controller && !h.IsOperator() {
			return Claim{}, fmt.Errorf("%s %s %s: remove that owner, or move the operator as docs/migrating-to-v1.md describes", crdKind, u.Live.Name, rollout.ControlledBy(h))
		}
	}
	own, others, err := x.bringers(ctx, u.Live)
	if err != nil {
		return Claim{}, err
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
		return Claim{Asked: changes, Join: !changes}, nil
	case own && tenancy.Origin(u.Live, x.Namespace) == x.Namespace:
		return Claim{}, nil
	}
	u.Unowned = true
	brought := len(tenancy.Bringers(u.Live)) > 0 || IsWrittenBy(u.Live, FieldManager)
	switch {
	case brought || tenancy.MayAdopt(u.Live, x.Namespace):
		return Claim{Asked: changes, Join: !changes}, nil
	case !changes:
		return Claim{Leave: true}, nil
	}
	return Claim{}, fmt.Errorf("%s %s exists, no InstallPlan brought it, and %s defines it otherwise: install a version that brings the same definition; or let operators of namespace %s "+
		"adopt it, which continues only if all stored objects stay valid and lose no field: kubectl annotate crd %s %s=%s",
		crdKind, u.Live.Name, u.By, x.Namespace, u.Live.Name, v1alpha1.AdoptableByAnnotation, x.Namespace)
}

// bringers reports whether the plan's operators, or others of the namespace that are gone, brought a CRD, and returns the operators that brought it,
// exist besides and have a say in it, see tenancy.Counts. One that cannot be read has it, and may use any version.
func (x *Definitions) bringers(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (own bool, others []crd.Operator, _ error) {
	for _, by := range tenancy.Bringers(crd) {
		here := by.Namespace == x.Namespace
		if here && x.Family[by.Name] {
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

// IsWrittenBy reports whether a field manager has fields of an object.
func IsWrittenBy(live metav1.Object, manager string) bool {
	return slices.ContainsFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == manager })
}
