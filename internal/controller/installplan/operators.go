package installplan

import (
	"context"

	"fairlead.dev/fairlead/internal/rollout/claims"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// findOperators finds the operators that the plan is judged by, and those that it installs. Operators of namespaces that the manager does not watch
// use CRDs as all others do; a manager that may not list them goes by whom the CRDs of the plan say that they were installed with.
func (x *execution) findOperators(ctx context.Context, c *Controller) error {
	all, err := claims.List(ctx, c.client)
	if err != nil {
		return err
	}
	if len(c.Namespaces) > 0 {
		if all, err = all.Beyond(ctx, c.live, x.existingCRDs(ctx)); err != nil {
			return err
		}
	}
	installs := map[string]claims.Operator{}
	for name, csv := range x.incoming {
		installs[name] = claims.Of(csv)
	}
	x.Claimant = claims.New(x.Live, x.plan.Namespace, all, installs)
	return nil
}

// existingCRDs are the names of CRDs that the plan has left to write and that the cluster has.
func (x *execution) existingCRDs(ctx context.Context) []string {
	var names []string
	for _, s := range x.steps {
		if s.due && s.object != nil && s.step.Resource.Kind == crdKind && !apierrors.IsNotFound(x.cached.Get(ctx, client.ObjectKey{Name: s.object.GetName()}, &apiextensionsv1.CustomResourceDefinition{})) {
			names = append(names, s.object.GetName())
		}
	}
	return names
}
