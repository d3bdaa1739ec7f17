package ops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// step is a part of a migration. Each may be done again.
type step struct {
	name string
	do   func(context.Context) error
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
	a := adoption{m.record(b)}
	for _, s := range []step{
		{"Subscription " + b.CSV.Namespace + "/" + b.Subscription.GetName() + " upgrades nothing any more, and is as planned", a.begin},
		{"ClusterExtension " + b.Extension.Name + " is created", a.create},
		{"it has taken the operator over", func(ctx context.Context) error {
			// Nothing is taken from the ClusterServiceVersion before the ClusterExtension has all of the objects.
			if _, err := WaitExtension(ctx, m.Client, b.Extension.Name, func(_, message string) { tell(message) }); err != nil {
				return fmt.Errorf("%w\nThe operator runs as before, and belongs to the ClusterServiceVersion", err)
			}
			if err := WaitRemoval(ctx, func() (string, error) { return a.missing(ctx) }); err != nil {
				return err
			}
			return a.noteAdded(ctx)
		}},
		{"ClusterServiceVersion " + b.CSV.String() + " is being deleted, and leaves what it had", a.retire},
		{"the Subscription is deleted", func(ctx context.Context) error { return a.remove(ctx, migrate.RefOf(b.Subscription)) }},
		{"the ClusterServiceVersion is gone", a.dismiss},
		{"nothing says any more that the objects are the ClusterServiceVersion's", a.release},
		{"what only the v0 API needs is removed", a.clear},
	} {
		if err := s.do(ctx); err != nil {
			var stale *StaleError
			if v.Begun || !errors.As(err, &stale) {
				return err
			}
			return errors.Join(err, access{m.Client}.remove(ctx, migrate.Ref{APIVersion: "v1", Kind: "Secret", Namespace: v.key.Namespace, Name: v.key.Name}))
		}
		tell(s.name)
	}
	if v.Done {
		return nil
	}
	return m.record(v.Backup).note(ctx, DoneKey, time.Now().UTC().Format(time.RFC3339))
}

// adoption are the steps by which a ClusterExtension gets the operator of a Subscription.
type adoption struct{ record }

// begin lets nothing upgrade from here on, if all is still as planned.
func (m adoption) begin(ctx context.Context) error {
	for _, do := range []func(context.Context) error{m.asPlanned, approval(m).freeze, m.asPlanned} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// subscription reads the Subscription of a migration as it is now.
func (m record) subscription(ctx context.Context) (*v1alpha1.Subscription, error) {
	b := m.Backup
	sub := &v1alpha1.Subscription{}
	if err := m.Client.Get(ctx, client.ObjectKeyFromObject(b.Subscription), sub); err != nil {
		return nil, fmt.Errorf("read Subscription %s/%s: %w", b.CSV.Namespace, b.Subscription.GetName(), err)
	}
	return sub, nil
}

// freeze keeps the Subscription from upgrading: by Manual approval, which leaves its configuration in force.
func (m approval) freeze(ctx context.Context) error {
	b := m.Backup
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { // the controllers of the v0 API write statuses at any time
		sub, err := m.subscription(ctx)
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
	})
}

// create makes the ClusterExtension, once: one that is gone is not made again behind the back of who has deleted it.
func (m adoption) create(ctx context.Context) error {
	b := m.Backup
	e, err := m.extension(ctx)
	if err != nil {
		return fmt.Errorf("create ClusterExtension %s: %w; or give the Subscription back as it was: %s", b.Extension.Name, err, m.undo)
	}
	if e != nil {
		return m.noteMade(ctx, e)
	}
	if b.Kept.Extension != "" {
		return fmt.Errorf("create ClusterExtension %s: it was made, and is not there any more; %s goes back", b.Extension.Name, m.undo)
	}
	e = b.Extension.DeepCopy()
	metav1.SetMetaDataAnnotation(&e.ObjectMeta, MarkKey, b.Kept.Mark)
	err = m.Client.Create(ctx, e, moveOwner)
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create ClusterExtension %s: there is another one of that name; %s gives the Subscription back as it was", b.Extension.Name, m.undo)
	}
	if err != nil {
		return fmt.Errorf("create ClusterExtension %s: %w", b.Extension.Name, err)
	}
	return m.noteMade(ctx, e)
}

// retire deletes the ClusterServiceVersion and lets it leave what it had. It stays in sight, so that the controllers of the v0 API, which do
// nothing for one that is being deleted, are not surprised by a Subscription that goes with its configuration.
func (m adoption) retire(ctx context.Context) error {
	b := m.Backup
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { // the controllers of the v0 API write statuses at any time
		if err := m.asPlanned(ctx); err != nil {
			return err
		}
		if _, err := m.unlabel(ctx); err != nil {
			return err
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
		for attempt := 0; ; attempt++ { // its controller may have labelled them once more, up to the change of the ClusterServiceVersion
			relabelled, err := m.unlabel(ctx)
			if err != nil {
				return err
			}
			if !relabelled {
				break
			}
			if attempt == maxUnlabel {
				return fmt.Errorf("delete ClusterServiceVersion %s: a controller labels the objects of the cluster as its own each time that the labels are removed, and would delete them with it; try again", b.CSV)
			}
		}
		if err := m.Client.Delete(ctx, csv, client.PropagationPolicy(metav1.DeletePropagationOrphan), client.Preconditions{UID: &csv.UID}); err != nil {
			return fmt.Errorf("delete ClusterServiceVersion %s: %w", b.CSV, err)
		}
		return nil
	})
}

// maxUnlabel is how often labels are removed again that a controller has restored.
const maxUnlabel = 5

// unlabel removes the owner labels from the objects of the cluster, by which the ClusterServiceVersion would find them and take them along. It reports
// whether there were any.
func (m adoption) unlabel(ctx context.Context) (changed bool, err error) {
	for _, u := range m.Adopted {
		if u.GetNamespace() != "" {
			continue
		}
		err := m.edit(ctx, migrate.RefOf(u), func(o client.Object) bool {
			released := m.Release(o, false)
			changed = changed || released
			return released
		})
		if err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// dismiss lets the ClusterServiceVersion go once no one refers to it any more.
func (m adoption) dismiss(ctx context.Context) error {
	b := m.Backup
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

func (m record) unhold(ctx context.Context, csv migrate.Ref) error {
	return m.edit(ctx, csv, func(o client.Object) bool { return controllerutil.RemoveFinalizer(o, hold) })
}

// missing is an object that does not belong to the ClusterExtension, or why that cannot be told.
func (m adoption) missing(ctx context.Context) (string, error) {
	b := m.Backup
	e, err := m.extension(ctx)
	if err != nil {
		return "", err
	}
	if e == nil {
		return "", fmt.Errorf("read ClusterExtension %s: another client has deleted it meanwhile", b.Extension.Name)
	}
	owners, err := m.owners(ctx, e)
	if err != nil {
		return "", err
	}
	for _, u := range b.Adopted {
		live, err := m.read(ctx, migrate.RefOf(u))
		if err != nil {
			return "", err
		}
		if live == nil {
			return migrate.RefOf(u).String() + " is not there", nil
		}
		if !ownedBy(live, owners) {
			return migrate.RefOf(u).String() + " does not belong to the ClusterExtension yet", nil
		}
	}
	return "", nil
}
