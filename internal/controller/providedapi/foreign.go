package providedapi

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// foreign returns why a ClusterRole is not the manager's although it has the name of a role of an API; empty when it may be written. Names are no
// evidence: the description of an aggregated API chooses them, and a role that exists already may be bound to other users. A role of an API has a
// definition as its owner, also where another lifecycle manager made it, or fields that this controller applied. One that gathers its rules from other
// roles is always foreign: Kubernetes writes these rules, and both would write them without an end.
func foreign(live *rbacv1.ClusterRole) string {
	if live == nil {
		return ""
	}
	isDefinition := func(r metav1.OwnerReference) bool { return r.Kind == kindCRD || r.Kind == kindAPIService }
	switch {
	case live.AggregationRule != nil:
		return "it has an aggregationRule"
	case !slices.ContainsFunc(live.ManagedFields, isOwnEntry) && !slices.ContainsFunc(live.OwnerReferences, isDefinition):
		return "no lifecycle manager made it"
	}
	return ""
}

// foreignToManager is foreign for the manager's own roles, which no other lifecycle manager makes: an owner reference, which any writer of ClusterRoles
// sets, is no evidence.
func foreignToManager(live *rbacv1.ClusterRole) string {
	if live != nil && !slices.ContainsFunc(live.ManagedFields, isOwnEntry) {
		return "this manager did not make it"
	}
	return foreign(live)
}

// squat is a definition one of whose roles cannot be written, because a foreign ClusterRole has its name.
type squat struct {
	definition reconcile.Request
	uid        types.UID // of the foreign role
}

// reportForeign reports, once, that a ClusterRole stays as it is.
func (c *Controller) reportForeign(ctx context.Context, definition client.Object, kind string, live *rbacv1.ClusterRole, why string) {
	now := squat{request(kind, definition.GetName()), live.UID}
	if before, _ := c.squats.Swap(live.Name, now); before == now {
		return
	}
	ctrl.LoggerFrom(ctx).Info("a ClusterRole of an API is not written: another one has its name", "role", live.Name, "kind", kind, "name", definition.GetName(), "reason", why)
	c.events.Eventf(definition, corev1.EventTypeWarning, ReasonRolesRefused,
		"ClusterRole %s is needed for %s %s, and one of that name exists that stays as it is, because %s: rename or delete it", live.Name, kind, definition.GetName(), why)
}

// ofSquat is the definition that waits for a foreign role to be changed or deleted.
func (c *Controller) ofSquat(_ context.Context, o client.Object) []reconcile.Request {
	if known, ok := c.squats.Load(o.GetName()); ok {
		return []reconcile.Request{known.(squat).definition}
	}
	return nil
}
