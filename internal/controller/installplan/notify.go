package installplan

import (
	"context"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/reconcile"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Notifier brings news that are no Kubernetes events, such as new catalog content and bundles that have arrived, to the controller.
// Its zero value is ready.
type Notifier struct {
	news   reconcile.Source
	search func(ctx context.Context, namespace string, which func(*v1alpha1.InstallPlan) bool) []ctrl.Request
}

// BundleArrived looks at every plan that waits for a bundle: which of them got something is cheap to find out.
func (n *Notifier) BundleArrived() {
	n.enqueue(concernsCatalogs)
}

// catalogChanged looks at every plan whose steps, or their manifests, are still to be found. There are few of them.
func (n *Notifier) catalogChanged(catalog.Ref) { n.enqueue(concernsCatalogs) }

func concernsCatalogs(p *v1alpha1.InstallPlan) bool { return isUnresolved(p) || fetches(p) }

// enqueue adds plans.
func (n *Notifier) enqueue(which func(*v1alpha1.InstallPlan) bool) {
	n.news.Tell(func(ctx context.Context) []ctrl.Request { return n.search(ctx, "", which) })
}

// fetches tells whether a plan that is being carried out waits for a bundle to be had again.
func fetches(p *v1alpha1.InstallPlan) bool {
	for i := range p.Status.BundleLookups {
		for _, c := range p.Status.BundleLookups[i].Conditions {
			accepted := c.Type == v1alpha1.BundleLookupSignatureVerified && c.Status == corev1.ConditionTrue
			if !accepted && unfinished(p) {
				return true
			}
		}
	}
	return false
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
	return p.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval && isAdvised(p.Status.Message)
}
