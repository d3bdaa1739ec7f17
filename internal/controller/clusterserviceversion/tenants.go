package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/tenancy"
)

// apisConflict, apisStatic and apisUnlisted are what speaks against providing the APIs of the CSV in the target namespaces.
func (f *facts) apisConflict(ctx context.Context) (finding, error) {
	verdict, err := f.verdict(ctx)
	if err != nil || verdict.Reason != v1alpha1.CSVReasonInterOperatorGroupOwnerConflict {
		return seenNot, err
	}
	return seen(verdict.Detail), nil
}

func (f *facts) apisStatic(ctx context.Context) (finding, error) {
	verdict, err := f.verdict(ctx)
	if err != nil || verdict.Reason != v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs {
		return seenNot, err
	}
	return seen(verdict.Detail), nil
}

func (f *facts) apisUnlisted(ctx context.Context) (finding, error) {
	verdict, err := f.verdict(ctx)
	if err != nil || !verdict.Awaits {
		return seenNot, err
	}
	return seen(verdict.Detail), nil
}

// verdict compares the APIs of the CSV with those of its group and of all groups that list one of them.
func (f *facts) verdict(ctx context.Context) (tenancy.Verdict, error) {
	if f.tenants != nil {
		return *f.tenants, nil
	}
	group, err := f.group(ctx)
	if err != nil || group == nil {
		return tenancy.Verdict{}, err
	}
	var others []*v1.OperatorGroup
	for api := range tenancy.ProvidedBy(f.csv) {
		var list v1.OperatorGroupList
		if err := f.c.client.List(ctx, &list, client.MatchingFields{indexByListed: api}, client.UnsafeDisableDeepCopy); err != nil {
			return tenancy.Verdict{}, fmt.Errorf("list the OperatorGroups that provide %s: %w", api, err)
		}
		for i := range list.Items {
			others = append(others, &list.Items[i])
		}
	}
	claim, err := tenancy.ClaimedBy(f.csv, group.Spec.ServiceAccountName != "", tenancy.Definitions{
		CRD: func(name string) (metav1.Object, error) {
			crd, err := f.readCRD(ctx, name)
			if err != nil || crd == nil {
				return nil, err
			}
			return crd, nil
		},
		APIService: func(name string) (metav1.Object, error) {
			service := &apiregistrationv1.APIService{}
			err := f.c.client.Get(ctx, client.ObjectKey{Name: name}, service, client.UnsafeDisableDeepCopy)
			if apierrors.IsNotFound(err) {
				return nil, nil
			}
			if err != nil {
				return nil, fmt.Errorf("read APIService %s: %w", name, err)
			}
			return service, nil
		},
	})
	if err != nil {
		return tenancy.Verdict{}, err
	}
	verdict := tenancy.Judge(tenancy.Member{ClusterServiceVersion: f.csv, Claim: claim}, group, tenancy.Distinct(others))
	f.tenants = &verdict
	return verdict, nil
}

// stop deletes the Deployments of a CSV that competes with another one.
func (f *facts) stop(ctx context.Context) error {
	deployments, err := f.oldDeployments(ctx, nil)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range deployments {
		errs = append(errs, removeAs(ctx, f.c.client, d))
	}
	return errors.Join(errs...)
}

// isStopped says whether stop has taken the Deployments of a CSV away.
func isStopped(csv *v1alpha1.ClusterServiceVersion) bool {
	because := csv.Status.Reason
	return csv.Status.Phase == toFailed && (because == v1alpha1.CSVReasonInterOperatorGroupOwnerConflict || because == v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs)
}

// competing are the CSVs that provide an API that a group lists, or listed before: what one group has, others have not.
func (c *Controller) competing(ctx context.Context, o client.Object) []reconcile.Request {
	group, ok := o.(*v1.OperatorGroup)
	if !ok {
		return nil
	}
	var out []reconcile.Request
	for api := range tenancy.AnnotatedOn(group) {
		out = append(out, c.csvs(ctx, client.MatchingFields{indexByProvided: api})...)
	}
	return out
}
