package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/tenancy"
)

// mayConvert refuses to redirect the conversion of a CRD that no InstallPlan brought for this ClusterServiceVersion: who converts a CRD reads and
// changes every object of it, in all namespaces. In a group with an account, the account must be able to patch the CRD itself, unless the CRD is of this
// namespace alone: a plan of the namespace created it for this operator, and no operator of another namespace brought it as well. To join by an equal
// definition, or to be allowed to adopt the CRD, gives no right to its conversion, also when the other operators are gone. A conversion that leads here already is none to redirect.
func (f *facts) mayConvert(ctx context.Context, live *apiextensionsv1.CustomResourceDefinition, wanted bundle.Conversion) error {
	if leadsTo(live, wanted.Spec) {
		return nil
	}
	bringers := tenancy.Bringers(live)
	brought := slices.Contains(bringers, key(f.csv.Namespace, f.csv.Name))
	if !brought && !tenancy.MayAdopt(live, f.csv.Namespace) {
		return refused(fmt.Errorf("CRD %s is not converted by this operator, because no InstallPlan brought the CRD for ClusterServiceVersion %s: put the CRD into its bundle, or let operators of the namespace "+
			"adopt it: kubectl annotate crd %s %s=%s", live.Name, f.name(), live.Name, v1alpha1.AdoptableByAnnotation, f.csv.Namespace))
	}
	group, err := f.oneGroup(ctx)
	if err != nil || group.Spec.ServiceAccountName == "" {
		return err
	}
	why := "was not created by an InstallPlan of this namespace for this operator"
	if brought && tenancy.Origin(live, "") == f.csv.Namespace {
		other, err := f.broughtElsewhere(ctx, bringers)
		if err != nil || other == (types.NamespacedName{}) {
			return err
		}
		why = fmt.Sprintf("is also of ClusterServiceVersion %s", other)
	}
	installer, err := f.installer(ctx)
	if err != nil {
		return err
	}
	err = crd.Convert(ctx, installer, live.Name, wanted.Spec, client.DryRunAll, fieldManager)
	switch {
	case rollout.IsAuthorized(err):
		return nil // what else it answers is for the write itself to report
	case apierrors.IsForbidden(err):
		return refused(fmt.Errorf("CRD %s %s, so converting it takes an account that may patch it: %w%s", live.Name, why, err, f.installedAs(ctx)))
	}
	return fmt.Errorf("ask whether the account of the group may convert CRD %s: %w", live.Name, err)
}

// broughtElsewhere is a ClusterServiceVersion of another namespace that brought a CRD and exists; zero is none.
func (f *facts) broughtElsewhere(ctx context.Context, bringers []types.NamespacedName) (types.NamespacedName, error) {
	for _, by := range bringers {
		if by.Namespace == f.csv.Namespace {
			continue
		}
		other := &v1alpha1.ClusterServiceVersion{}
		err := f.c.live.Get(ctx, by, other)
		switch {
		case apierrors.IsNotFound(err) || err == nil && other.IsCopied():
		case err != nil && !apierrors.IsForbidden(err): // one that cannot be seen is taken to exist
			return types.NamespacedName{}, fmt.Errorf("read ClusterServiceVersion %s, which brought the same CRD: %w", by, err)
		default:
			return by, nil
		}
	}
	return types.NamespacedName{}, nil
}
