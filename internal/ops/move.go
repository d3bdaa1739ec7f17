package ops

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// step is a part of a migration. Each may be done again.
type step struct {
	name string
	do   func(context.Context, *migrate.Backup) error
}

// Run does what a move says, and returns when it is done. tell is called with each step that is; a call that ends early is gone on with by the
// next one.
func (m *Mover) Run(ctx context.Context, v *Move, tell func(what string)) error {
	if !v.Begun {
		if err := m.save(ctx, v); err != nil {
			return err
		}
		tell("kept what there is in Secret " + v.key.String())
	}
	b := v.Backup
	for _, s := range []step{
		{"Subscription " + b.CSV.Namespace + "/" + b.Subscription.GetName() + " upgrades nothing any more, and is as planned", m.begin},
		{"ClusterExtension " + b.Extension.Name + " is created", m.create},
		{"it has taken the operator over", m.takeOver(tell)},
		{"ClusterServiceVersion " + b.CSV.String() + " is being deleted, and leaves what it had", m.retire},
		{"the Subscription is deleted", m.unsubscribe},
		{"the ClusterServiceVersion is gone", m.dismiss},
		{"nothing says any more that the objects are the ClusterServiceVersion's", m.release},
		{"what only the v0 API needs is removed", m.clear},
	} {
		if err := s.do(ctx, b); err != nil {
			return m.forget(ctx, v, err)
		}
		tell(s.name)
	}
	return m.done(ctx, v)
}

// begin lets nothing upgrade from here on, if all is still as planned.
func (m *Mover) begin(ctx context.Context, b *migrate.Backup) error {
	for _, do := range []func(context.Context, *migrate.Backup) error{m.asPlanned, m.freeze, m.asPlanned} {
		if err := do(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// subscription reads the Subscription of a migration as it is now.
func (m *Mover) subscription(ctx context.Context, b *migrate.Backup) (*v1alpha1.Subscription, error) {
	sub := &v1alpha1.Subscription{}
	if err := m.Client.Get(ctx, client.ObjectKeyFromObject(b.Subscription), sub); err != nil {
		return nil, fmt.Errorf("read Subscription %s/%s: %w", b.CSV.Namespace, b.Subscription.GetName(), err)
	}
	return sub, nil
}

// freeze keeps the Subscription from upgrading: by Manual approval, which leaves its configuration in force.
func (m *Mover) freeze(ctx context.Context, b *migrate.Backup) error {
	return again(func() error { return m.tryFreeze(ctx, b) })
}

func (m *Mover) tryFreeze(ctx context.Context, b *migrate.Backup) error {
	sub, err := m.subscription(ctx, b)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if frozenFor := sub.Annotations[frozenKey]; frozenFor != "" && frozenFor != b.Extension.Name {
		return fmt.Errorf("keep Subscription %s/%s from upgrading: its annotation %s says that it becomes ClusterExtension %s; remove that, unless it is being migrated", b.CSV.Namespace, sub.Name, frozenKey, frozenFor)
	}
	if sub.Annotations[frozenKey] != "" {
		return nil
	}
	before := sub.DeepCopy()
	metav1.SetMetaDataAnnotation(&sub.ObjectMeta, frozenKey, b.Extension.Name)
	if sub.Spec != nil {
		sub.Spec.InstallPlanApproval = v1alpha1.ApprovalManual
	}
	if err := m.Client.Patch(ctx, sub, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), moveOwner); err != nil {
		return fmt.Errorf("keep Subscription %s/%s from upgrading: %w; try again", b.CSV.Namespace, sub.Name, err)
	}
	return nil
}

// create makes the ClusterExtension, once: one that is gone is not made again behind the back of who has deleted it.
func (m *Mover) create(ctx context.Context, b *migrate.Backup) error {
	e, err := m.extension(ctx, b)
	if err != nil {
		return fmt.Errorf("create ClusterExtension %s: %w; or give the Subscription back as it was: %s", b.Extension.Name, err, m.undoCommand(b.Extension.Name))
	}
	if e != nil {
		return m.noteMade(ctx, b, e)
	}
	if b.Kept.Extension != "" {
		return fmt.Errorf("create ClusterExtension %s: it was made, and is not there any more; %s goes back", b.Extension.Name, m.undoCommand(b.Extension.Name))
	}
	e = b.Extension.DeepCopy()
	metav1.SetMetaDataAnnotation(&e.ObjectMeta, MarkKey, b.Kept.Mark)
	err = m.Client.Create(ctx, e, moveOwner)
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create ClusterExtension %s: there is another one of that name; %s gives the Subscription back as it was", b.Extension.Name, m.undoCommand(b.Extension.Name))
	}
	if err != nil {
		return fmt.Errorf("create ClusterExtension %s: %w", b.Extension.Name, err)
	}
	return m.noteMade(ctx, b, e)
}

// retire deletes the ClusterServiceVersion and lets it leave what it had. It stays in sight, so that the controllers of the v0 API, which do
// nothing for one that is being deleted, are not surprised by a Subscription that goes with its configuration.
func (m *Mover) retire(ctx context.Context, b *migrate.Backup) error {
	return again(func() error { return m.tryRetire(ctx, b) })
}

func (m *Mover) tryRetire(ctx context.Context, b *migrate.Backup) error {
	if err := m.asPlanned(ctx, b); err != nil {
		return err
	}
	for _, u := range b.Adopted { // what it would find by label, and take along
		if u.GetNamespace() == "" {
			if err := m.edit(ctx, migrate.RefOf(u), func(o client.Object) bool { return b.Release(o, false) }); err != nil {
				return err
			}
		}
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	err := m.Client.Get(ctx, client.ObjectKey{Namespace: b.CSV.Namespace, Name: b.CSV.Name}, csv)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read ClusterServiceVersion %s: %w", b.CSV, err)
	}
	if csv.DeletionTimestamp != nil {
		return nil
	}
	before := csv.DeepCopy()
	if controllerutil.AddFinalizer(csv, hold) || csv.Spec.Cleanup.Enabled {
		csv.Spec.Cleanup.Enabled = false
		if err := m.Client.Patch(ctx, csv, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), moveOwner); err != nil {
			return fmt.Errorf("hold ClusterServiceVersion %s: %w; try again", b.CSV, err)
		}
	}
	if err := m.Client.Delete(ctx, csv, client.PropagationPolicy(metav1.DeletePropagationOrphan), client.Preconditions{UID: &csv.UID}); err != nil {
		return fmt.Errorf("delete ClusterServiceVersion %s: %w", b.CSV, err)
	}
	return nil
}

// unsubscribe deletes the Subscription.
func (m *Mover) unsubscribe(ctx context.Context, b *migrate.Backup) error {
	return m.remove(ctx, migrate.RefOf(b.Subscription))
}

// dismiss lets the ClusterServiceVersion go once nobody refers to it any more.
func (m *Mover) dismiss(ctx context.Context, b *migrate.Backup) error {
	ref := migrate.RefOf(b.Version)
	live, err := m.read(ctx, ref)
	if err != nil || live == nil {
		return err
	}
	if err := m.unhold(ctx, ref); err != nil {
		return err
	}
	return m.gone(ctx, ref, string(live.GetUID()))
}

func isHeld(csv client.Object) bool { return controllerutil.ContainsFinalizer(csv, hold) }

func (m *Mover) unhold(ctx context.Context, csv migrate.Ref) error {
	return m.edit(ctx, csv, func(o client.Object) bool { return controllerutil.RemoveFinalizer(o, hold) })
}
