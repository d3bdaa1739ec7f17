package operatorgroup

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/reconcile"
)

// fieldManager owns the fields that this controller applies.
const fieldManager = client.FieldOwner("fairlead-operatorgroup")

// Controller reconciles OperatorGroups. Its client reads from caches that have the indexes of setup.go.
type Controller struct {
	client client.Client
	// live asks the cluster before APIs are claimed, and which groups exist before the labels of others are removed; the caches may not show yet what
	// other groups have claimed.
	live       client.Reader
	clock      clock.PassiveClock
	namespaces []string // those that the manager is limited to, if any
	written    reconcile.StatusMemory[v1.OperatorGroupStatus]
}

// Reconcile brings one OperatorGroup and what belongs to it up to date.
func (c *Controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if req == sweeping {
		return ctrl.Result{}, c.sweep(ctx)
	}
	return reconcile.Typed[*v1.OperatorGroup]{Client: c.client, Step: c.pass,
		Deleting: func(ctx context.Context, group *v1.OperatorGroup) (ctrl.Result, error) {
			return ctrl.Result{}, c.cleanUp(ctx, client.ObjectKeyFromObject(group))
		},
		Gone: func(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
			c.written.Forget(key)
			return ctrl.Result{}, c.cleanUp(ctx, key)
		}}.Reconcile(ctx, req)
}

func (c *Controller) pass(ctx context.Context, group *v1.OperatorGroup) (ctrl.Result, error) {
	if c.written.Stale(group) {
		return ctrl.Result{}, nil // an event follows
	}
	seen, err := c.observe(ctx, group)
	if err != nil {
		return ctrl.Result{}, err
	}
	// What the group itself reports: its status, and which APIs its operators provide in its target namespaces.
	var again time.Duration
	group, err = reconcile.StatusWriter[*v1.OperatorGroup, v1.OperatorGroupStatus]{Client: c.client, Owner: fieldManager, Memory: &c.written, Optimistic: true, Equal: sameStatus,
		Status: func(group *v1.OperatorGroup) *v1.OperatorGroupStatus { return &group.Status },
		States: func(s *v1.OperatorGroupStatus) []reconcile.State {
			return reconcile.Conditions(s.Conditions, reconcile.TypeReady)
		},
	}.Write(ctx, group, status(group, seen, c.clock.Now()))
	if err == nil {
		group, again, err = c.claim(ctx, group, seen)
	}
	if apierrors.IsConflict(err) {
		// The cached group was not the latest: the event of its newer version wakes the controller up.
		return ctrl.Result{}, nil
	}
	// What is around the group. The ClusterRoles remember whose labels there may be on namespaces: labels of groups that
	// had the name before go before their UIDs are forgotten, those of the group come after its own is remembered.
	result := ctrl.Result{RequeueAfter: again}
	err = errors.Join(err, c.manageAccount(ctx, group, seen))
	if failed := c.removeLabels(ctx, staleUIDs(seen.roles, group.UID)); failed != nil {
		return result, errors.Join(err, failed)
	}
	if seen.unlabelable == nil {
		later, failed := c.applyClusterRoles(ctx, group, seen)
		result.RequeueAfter = reconcile.Sooner(again, later)
		if failed != nil {
			return result, errors.Join(err, failed)
		}
	}
	return result, errors.Join(err, c.setLabels(ctx, group, seen))
}

// cleanUp removes what a deleted group leaves behind. Its ClusterRoles go last: their labels remember its UID. A group with a name too long
// for labels has none, so all namespaces are checked.
func (c *Controller) cleanUp(ctx context.Context, group types.NamespacedName) error {
	roles, err := c.rolesOf(ctx, group)
	if err != nil {
		return err
	}
	if err := c.removeLabels(ctx, staleUIDs(roles, "")); err != nil {
		return err
	}
	if len(roles) == 0 {
		return c.sweep(ctx)
	}
	for i := range roles {
		if err := client.IgnoreNotFound(c.client.Delete(ctx, &roles[i])); err != nil {
			return fmt.Errorf("delete ClusterRole %s of the deleted OperatorGroup %s: %w", roles[i].Name, group, err)
		}
	}
	return nil
}
