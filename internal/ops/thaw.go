package ops

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// thaw gives the Subscription its approval back. InstallPlans that were made meanwhile go; those that were complete are history, and do not
// come back: whoever made one would have to keep the managers from carrying it out again.
func (m *Mover) thaw(ctx context.Context, b *migrate.Backup) error {
	return again(func() error { return m.tryThaw(ctx, b) })
}

func (m *Mover) tryThaw(ctx context.Context, b *migrate.Backup) error {
	sub, err := m.subscription(ctx, b)
	if err != nil {
		return err
	}
	if err := m.plans(ctx, b, sub); err != nil {
		return err
	}
	if sub.Annotations[frozenKey] == "" {
		return nil
	}
	if err := m.note(ctx, b, returnedKey, string(sub.UID)); err != nil {
		return err
	}
	return m.melt(ctx, b, sub)
}

// unfreeze gives the Subscription of a migration that took nothing over its approval back, where it is there and was frozen.
func (m *Mover) unfreeze(ctx context.Context, b *migrate.Backup) error {
	return again(func() error { return m.tryUnfreeze(ctx, b) })
}

func (m *Mover) tryUnfreeze(ctx context.Context, b *migrate.Backup) error {
	sub, err := m.subscription(ctx, b)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if sub.UID != b.Subscription.GetUID() || sub.Annotations[frozenKey] != b.Extension.Name {
		return nil
	}
	if err := m.plans(ctx, b, sub); err != nil { // one that was made meanwhile waits for an approval that nobody would give
		return err
	}
	return m.melt(ctx, b, sub)
}

// melt gives a Subscription the approval of the backup.
func (m *Mover) melt(ctx context.Context, b *migrate.Backup, sub *v1alpha1.Subscription) error {
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

func (m *Mover) plans(ctx context.Context, b *migrate.Backup, sub *v1alpha1.Subscription) error {
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
