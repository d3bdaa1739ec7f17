package installplan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/tenancy"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CRDUpgradesAnnotation on an OperatorGroup, with the value strict, asks of every CRD that plans of its namespace upgrade what is else
// asked of those with several owners only.
const CRDUpgradesAnnotation = "operators.fairlead.dev/crd-upgrades"

// crdUse is that an operator owns or requires a version of a CRD.
type crdUse struct {
	crd, version string
	required     bool
}

// asUser is what an operator has to do with a CRD.
func (o operator) asUser(name string) crd.Operator {
	user := crd.Operator{Namespace: o.namespace, Name: o.name}
	for _, use := range o.crds {
		switch {
		case use.crd != name:
		case use.required:
			user.Requires = append(user.Requires, use.version)
		default:
			user.Owns = append(user.Owns, use.version)
		}
	}
	return user
}

// ownership reports who has a say in the CRDs of a plan.
type ownership struct {
	*pass
	strictCRDs bool            // every upgrade of a CRD is checked as if it had several owners
	confined   map[string]bool // namespaces whose OperatorGroup names an account
}

// usersOf are the operators that own or require a CRD and have a say in its upgrade, without those that the plan installs and what these replace. Who
// may create a ClusterServiceVersion may write any name into it, so owners need the evidence of tenancy.Counts.
//
// There is no such evidence of requirers: nothing but their own list names what they require. One whose namespace is confined to an account has no say:
// else a tenant could keep a version of any CRD of the cluster for ever, with a pod that only waits. It loses nothing that is stored, because a version
// leaves only after its objects are rewritten, and waits with a status that names the missing version. Requirers of other namespaces, in which an
// administrator lets operators have what they ask for, of the plan's own, and of namespaces that share the CRD, are asked.
func (x *ownership) usersOf(live *apiextensionsv1.CustomResourceDefinition) []crd.Operator {
	var users []crd.Operator
	for _, other := range x.operators {
		if other.namespace == x.plan.Namespace && x.family[other.name] {
			continue
		}
		user := other.asUser(live.Name)
		here := other.hasRun && other.namespace == x.plan.Namespace // which keeps up no other namespace
		if !here && !x.counts(other, live) {
			user.Owns = nil
		}
		if !here && (!other.hasRun || x.confined[other.namespace] && !tenancy.BroughtFrom(live, other.namespace)) {
			user.Requires = nil
		}
		if len(user.Owns)+len(user.Requires) > 0 {
			users = append(users, user)
		}
	}
	return users
}

// counts reports whether an operator that owns a CRD has a say in its upgrade.
func (x *ownership) counts(o operator, crd *apiextensionsv1.CustomResourceDefinition) bool {
	return tenancy.Counts(tenancy.Standing{Namespace: o.namespace, Name: o.name, HasRun: o.hasRun, Confined: x.confined[o.namespace]}, crd)
}

// arriving are the operators that another plan is just bringing a CRD for: between the CRD and its operator a plan makes other writes.
func (x *ownership) arriving(ctx context.Context, live *apiextensionsv1.CustomResourceDefinition) ([]crd.Operator, error) {
	var owners []crd.Operator
	for key, value := range live.Annotations {
		namespace, csv, _ := strings.Cut(value, "/")
		if !strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) || namespace == x.plan.Namespace {
			continue
		}
		if _, is := x.operators.find(namespace, csv); is {
			continue
		}
		arrives, err := x.arrives(ctx, namespace, csv)
		if err != nil {
			return nil, err
		}
		if arrives {
			owners = append(owners, crd.Operator{Namespace: namespace, Name: csv, Owns: []string{""}})
		}
	}
	slices.SortFunc(owners, func(a, b crd.Operator) int { return strings.Compare(a.String(), b.String()) })
	return owners, nil
}

// arrives reports whether a plan of another namespace is just installing an operator. Where plans cannot be listed it is taken not to: that a CRD names
// an operator does not mean that it is still to come.
func (x *ownership) arrives(ctx context.Context, namespace, csv string) (bool, error) {
	var plans v1alpha1.InstallPlanList
	err := x.everywhere.List(ctx, &plans, client.InNamespace(namespace))
	if apierrors.IsForbidden(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list the InstallPlans of namespace %s, one of which may be bringing ClusterServiceVersion %s/%s: %w", namespace, namespace, csv, err)
	}
	return slices.ContainsFunc(plans.Items, func(p v1alpha1.InstallPlan) bool {
		return p.Status.Phase == v1alpha1.InstallPlanPhaseInstalling && slices.Contains(p.Spec.ClusterServiceVersionNames, csv)
	}), nil
}

// readGroups reads from all OperatorGroups what they decide about CRDs: whether the namespace of the plan wants every upgrade to be checked, and which
// namespaces are confined to an account.
func (x *ownership) readGroups(ctx context.Context) error {
	var groups operatorsv1.OperatorGroupList
	if err := x.cached.List(ctx, &groups, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the OperatorGroups of all namespaces, which decide whose operators have a say in the upgrade of a %s: %w", crdKind, err)
	}
	x.strictCRDs, x.confined = false, map[string]bool{}
	for i := range groups.Items {
		g := &groups.Items[i]
		if g.Namespace == x.plan.Namespace && g.Annotations[CRDUpgradesAnnotation] == "strict" {
			x.strictCRDs = true
		}
		if g.Spec.ServiceAccountName != "" {
			x.confined[g.Namespace] = true
		}
	}
	return nil
}
