package ops

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// approval is that of the Subscription, which must not upgrade anything while its operator is moved.
type approval struct{ record }

// thaw gives the Subscription its approval back. InstallPlans that were made meanwhile go; those that were complete are history, and do not
// come back: the one who made one would have to keep the managers from carrying it out again.
func (m approval) thaw(ctx context.Context) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { // the controllers of the v0 API write statuses at any time
		sub, err := m.subscription(ctx)
		if err != nil {
			return err
		}
		if err := m.plans(ctx, sub); err != nil {
			return err
		}
		if sub.Annotations[frozenKey] == "" {
			return nil
		}
		if err := m.note(ctx, returnedKey, string(sub.UID)); err != nil {
			return err
		}
		return m.melt(ctx, sub)
	})
}

// unfreeze gives the Subscription of a migration that took nothing over its approval back, where it is there and was frozen.
func (m approval) unfreeze(ctx context.Context) error {
	b := m.Backup
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { // the controllers of the v0 API write statuses at any time
		sub, err := m.subscription(ctx)
		if err != nil {
			return client.IgnoreNotFound(err)
		}
		if sub.UID != b.Subscription.GetUID() || sub.Annotations[frozenKey] != b.Extension.Name {
			return nil
		}
		if err := m.plans(ctx, sub); err != nil { // one that was made meanwhile waits for an approval that no one would give
			return err
		}
		return m.melt(ctx, sub)
	})
}

// melt gives a Subscription the approval of the backup.
func (m approval) melt(ctx context.Context, sub *v1alpha1.Subscription) error {
	b := m.Backup
	before := sub.DeepCopy()
	delete(sub.Annotations, frozenKey)
	approval, _, _ := unstructured.NestedString(b.Subscription.Object, "spec", "installPlanApproval")
	if sub.Spec != nil {
		sub.Spec.InstallPlanApproval = v1alpha1.Approval(approval)
	}
	if err := m.Client.Patch(ctx, sub, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), moveOwner); err != nil {
		return fmt.Errorf("let Subscription %s/%s upgrade again: %w; try again", b.CSV.Namespace, sub.Name, err)
	}
	return nil
}

func (m approval) plans(ctx context.Context, sub *v1alpha1.Subscription) error {
	b := m.Backup
	var live v1alpha1.InstallPlanList
	if err := m.Client.List(ctx, &live, client.InNamespace(sub.Namespace)); err != nil {
		return fmt.Errorf("list the InstallPlans of namespace %s: %w", sub.Namespace, err)
	}
	for i := range live.Items {
		p := &live.Items[i]
		had := slices.ContainsFunc(b.Plans, func(u *unstructured.Unstructured) bool { return u.GetName() == p.Name })
		mine := len(p.OwnerReferences) == 1 && p.OwnerReferences[0].UID == sub.UID
		if mine && !had && !p.Spec.Approved {
			if err := client.IgnoreNotFound(m.Client.Delete(ctx, p)); err != nil {
				return fmt.Errorf("delete InstallPlan %s/%s, which was made meanwhile: %w", p.Namespace, p.Name, err)
			}
		}
	}
	return nil
}
