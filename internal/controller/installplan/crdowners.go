package installplan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/preflight/crdupgrade"

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

func crdUses(csv *v1alpha1.ClusterServiceVersion) []crdUse {
	var uses []crdUse
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		uses = append(uses, crdUse{crd: d.Name, version: d.Version})
	}
	for _, d := range csv.Spec.CustomResourceDefinitions.Required {
		uses = append(uses, crdUse{crd: d.Name, version: d.Version, required: true})
	}
	return uses
}

// asUser is what an operator has to do with a CRD.
func (o operator) asUser(crd string) crdupgrade.Operator {
	user := crdupgrade.Operator{Namespace: o.namespace, Name: o.name}
	for _, use := range o.crds {
		switch {
		case use.crd != crd:
		case use.required:
			user.Requires = append(user.Requires, use.version)
		default:
			user.Owns = append(user.Owns, use.version)
		}
	}
	return user
}

// usersOf are the operators that own or require a CRD, without those that the plan installs and what these replace.
func (x *execution) usersOf(crd string) []crdupgrade.Operator {
	var users []crdupgrade.Operator
	for _, other := range x.operators {
		if other.namespace == x.plan.Namespace && x.family[other.name] {
			continue
		}
		if user := other.asUser(crd); len(user.Owns)+len(user.Requires) > 0 {
			users = append(users, user)
		}
	}
	return users
}

// joins tells whether an operator becomes an owner of a CRD: neither it nor one of its line in the namespace owns it yet.
func (x *execution) joins(crd string) bool {
	for _, other := range x.operators {
		if other.namespace == x.plan.Namespace && x.family[other.name] && len(other.asUser(crd).Owns) > 0 {
			return false
		}
	}
	return true
}

// arriving are the operators that another plan is just bringing a CRD for: between the CRD and its operator a plan makes other writes.
func (x *execution) arriving(ctx context.Context, live *apiextensionsv1.CustomResourceDefinition) ([]crdupgrade.Operator, error) {
	var owners []crdupgrade.Operator
	for key, value := range live.Annotations {
		namespace, csv, _ := strings.Cut(value, "/")
		if !strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) || namespace == x.plan.Namespace {
			continue
		}
		if _, is := x.operators.find(namespace, csv); is {
			continue
		}
		var plans v1alpha1.InstallPlanList
		err := x.everywhere.List(ctx, &plans, client.InNamespace(namespace))
		if apierrors.IsForbidden(err) {
			continue // that the CRD names the operator does not mean that it is still to come
		}
		if err != nil {
			return nil, fmt.Errorf("list the InstallPlans of namespace %s, one of which may be bringing ClusterServiceVersion %s: %w", namespace, value, err)
		}
		for i := range plans.Items {
			p := &plans.Items[i]
			if p.Status.Phase == v1alpha1.InstallPlanPhaseInstalling && slices.Contains(p.Spec.ClusterServiceVersionNames, csv) {
				owners = append(owners, crdupgrade.Operator{Namespace: namespace, Name: csv, Owns: []string{""}})
				break
			}
		}
	}
	slices.SortFunc(owners, func(a, b crdupgrade.Operator) int { return strings.Compare(a.String(), b.String()) })
	return owners, nil
}

// bringer is the operator that a step brings a CRD for.
func (x *execution) bringer(csv, crd string) crdupgrade.Operator {
	if incoming, known := x.incoming[csv]; known {
		return operatorOf(incoming).asUser(crd)
	}
	return crdupgrade.Operator{Namespace: x.plan.Namespace, Name: csv}
}

// strictCRDs tells whether the namespace wants every upgrade of a CRD to be checked.
func strictCRDs(ctx context.Context, reader client.Reader, namespace string) (bool, error) {
	var groups operatorsv1.OperatorGroupList
	if err := reader.List(ctx, &groups, client.InNamespace(namespace)); err != nil {
		return false, fmt.Errorf("list the OperatorGroups of namespace %s: %w", namespace, err)
	}
	for i := range groups.Items {
		if groups.Items[i].Annotations[CRDUpgradesAnnotation] == "strict" {
			return true, nil
		}
	}
	return false, nil
}
