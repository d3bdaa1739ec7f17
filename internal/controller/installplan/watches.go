package installplan

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// limitedBy maps RBAC objects and service accounts to the plans that may have been denied something, and lets those that failed be tried
// once more. Objects of the cluster concern all namespaces, and change with every operator that is installed: they revive only what
// says that it was denied something.
func (c watcher) limitedBy(ctx context.Context, o client.Object) []ctrl.Request {
	var list v1alpha1.InstallPlanList
	if err := c.client.List(ctx, &list, client.InNamespace(o.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list the InstallPlans that a change of permissions concerns")
		return nil
	}
	// The newest plans of each owner.
	plans := list.Items
	newest := map[types.UID]*v1alpha1.InstallPlan{}
	for i := range plans {
		p := &plans[i]
		for _, owner := range p.OwnerReferences {
			if other := newest[owner.UID]; other == nil || cmp.Or(cmp.Compare(p.Spec.Generation, other.Spec.Generation),
				p.CreationTimestamp.Compare(other.CreationTimestamp.Time), cmp.Compare(p.Name, other.Name)) > 0 {
				newest[owner.UID] = p
			}
		}
	}
	var requests []ctrl.Request
	for i := range list.Items {
		p := &list.Items[i]
		// None of its owners has a newer one, which says what they want by now. That the API server denied it something is in its words.
		isNewest := !slices.ContainsFunc(p.OwnerReferences, func(owner metav1.OwnerReference) bool { return newest[owner.UID] != p })
		isFailed := p.Status.Phase == v1alpha1.InstallPlanPhaseFailed && isNewest && (o.GetNamespace() != "" || strings.Contains(p.Status.Message, "forbidden"))
		if p.Status.AttenuatedServiceAccountRef == nil || !isFailed && !unfinished(p) {
			continue
		}
		key := client.ObjectKeyFromObject(p)
		c.memory.nudge(key)
		requests = append(requests, ctrl.Request{NamespacedName: key})
	}
	return requests
}

// Notifier brings news that are no Kubernetes events, such as new catalog content and bundles that have arrived, to the controller.
// Its zero value is ready.
type Notifier struct {
	news   reconcile.Source
	search func(ctx context.Context, namespace string, which func(*v1alpha1.InstallPlan) bool) []ctrl.Request
}

// BundleArrived requeues every plan whose steps, or their manifests, are still to be found, and each that waits for a bundle to be read again: there
// are few of them, and which of them got something is cheap to find out.
func (n *Notifier) BundleArrived() {
	n.news.Tell(func(ctx context.Context) []ctrl.Request { return n.search(ctx, "", concernsCatalogs) })
}

// concernsCatalogs reports whether the steps of a plan are still to be found, or it waits for a bundle to be read again.
func concernsCatalogs(p *v1alpha1.InstallPlan) bool {
	return isUnresolved(p) || unfinished(p) && slices.ContainsFunc(p.Status.BundleLookups, func(l v1alpha1.BundleLookup) bool {
		return slices.ContainsFunc(l.Conditions, func(c v1alpha1.BundleLookupCondition) bool {
			return c.Type != v1alpha1.BundleLookupSignatureVerified || c.Status != corev1.ConditionTrue // it is not accepted
		})
	})
}

// awaitingOperators maps an operator to the plans of its namespace whose steps are still to be found, and to all that say while they wait
// for approval that something is in their way: it may have been this operator.
func (c watcher) awaitingOperators(ctx context.Context, o client.Object) []ctrl.Request {
	return c.plans(ctx, "", func(p *v1alpha1.InstallPlan) bool {
		return awaitsWithAdvice(p) || p.Namespace == o.GetNamespace() && isUnresolved(p)
	})
}

// awaitsWithAdvice reports whether a plan waits for approval, and says what approving it would lead to.
func awaitsWithAdvice(p *v1alpha1.InstallPlan) bool {
	return p.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval && v1alpha1.IsApprovalAdvice(p.Status.Message)
}
