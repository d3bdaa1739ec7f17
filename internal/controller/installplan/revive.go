package installplan

import (
	"cmp"
	"context"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// limitedBy maps RBAC objects and service accounts to the plans that may have been denied something, and lets those that failed be tried
// once more. Objects of the cluster concern all namespaces, and change with every operator that is installed: they revive only what
// says that it was denied something.
func (c watcher) limitedBy(ctx context.Context, o client.Object) []reconcile.Request {
	var list v1alpha1.InstallPlanList
	if err := c.client.List(ctx, &list, client.InNamespace(o.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list the InstallPlans that a change of permissions concerns")
		return nil
	}
	newest := newestPlans(list.Items)
	var requests []reconcile.Request
	for i := range list.Items {
		p := &list.Items[i]
		isFailed := p.Status.Phase == v1alpha1.InstallPlanPhaseFailed && isNewest(p, newest) && (o.GetNamespace() != "" || wasDenied(p))
		if p.Status.AttenuatedServiceAccountRef == nil || !isFailed && !unfinished(p) {
			continue
		}
		key := client.ObjectKeyFromObject(p)
		c.memory.nudge(key)
		requests = append(requests, reconcile.Request{NamespacedName: key})
	}
	return requests
}

// wasDenied tells whether a plan failed, among other reasons, because the API server denied it something: that is in its words then.
func wasDenied(p *v1alpha1.InstallPlan) bool { return strings.Contains(p.Status.Message, "forbidden") }

// newestPlans are the newest plans of each owner.
func newestPlans(plans []v1alpha1.InstallPlan) map[types.UID]*v1alpha1.InstallPlan {
	newest := map[types.UID]*v1alpha1.InstallPlan{}
	for i := range plans {
		for _, owner := range plans[i].OwnerReferences {
			if other := newest[owner.UID]; other == nil || compareAge(&plans[i], other) > 0 {
				newest[owner.UID] = &plans[i]
			}
		}
	}
	return newest
}

// compareAge is positive when a plan was decided on after another one.
func compareAge(p, other *v1alpha1.InstallPlan) int {
	return cmp.Or(cmp.Compare(p.Spec.Generation, other.Spec.Generation),
		p.CreationTimestamp.Compare(other.CreationTimestamp.Time), cmp.Compare(p.Name, other.Name))
}

// isNewest tells whether none of the owners of a plan has a newer one, which says what they want by now.
func isNewest(p *v1alpha1.InstallPlan, newest map[types.UID]*v1alpha1.InstallPlan) bool {
	for _, owner := range p.OwnerReferences {
		if newest[owner.UID] != p {
			return false
		}
	}
	return true
}
