package move

import (
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/migrate"
	"fairlead.dev/fairlead/internal/revision"
	"fairlead.dev/fairlead/internal/uninstall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// revisionManager is the field manager of objects of revisions.
const revisionManager = olmv1.GroupName

// Find finds the backup of a ClusterExtension, and says why there is no way back; without that there is.
func (m *Mover) Find(ctx context.Context, extension string) (*Move, error) {
	var list corev1.SecretList
	if err := m.Client.List(ctx, &list, client.InNamespace(m.Namespace), client.HasLabels{Label}); err != nil {
		return nil, fmt.Errorf("look for the backup of ClusterExtension %s: %w", extension, err)
	}
	list.Items = slices.DeleteFunc(list.Items, func(s corev1.Secret) bool { return s.Type != secretType || s.Annotations[ExtensionKey] != extension })
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("undo the migration of ClusterExtension %s: namespace %s has %d Secrets with the label %s and the annotation %s: %[1]s, and exactly one is needed: it has the backup",
			extension, m.Namespace, len(list.Items), Label, ExtensionKey)
	}
	at := client.ObjectKeyFromObject(&list.Items[0])
	_, b, err := m.backup(ctx, at)
	if err != nil {
		return nil, err
	}
	v := &Move{Plan: summary(b, at), Backup: b, Begun: true, Done: list.Items[0].Annotations[DoneKey] != "", key: at}
	v.Refused, err = m.noWayBack(ctx, b)
	return v, err
}

// noWayBack says why the objects cannot be given back: they are those of another version by now.
func (m *Mover) noWayBack(ctx context.Context, b *migrate.Backup) ([]string, error) {
	e, err := m.extension(ctx, b)
	if err != nil || e == nil {
		return nil, err
	}
	sets, err := revision.List(ctx, m.Client, e.Name, e.UID)
	if err != nil {
		return nil, err
	}
	for i := range sets {
		if s := &sets[i]; s.Spec.LifecycleState != olmv1.LifecycleStateArchived && s.Spec.Revision > 1 {
			return []string{fmt.Sprintf("ClusterExtension %s has had another revision since (%s): its Deployments are not those that ClusterServiceVersion %s had, and would be rolled out", e.Name, s.Name, b.CSV)}, nil
		}
	}
	return nil, nil
}

// extension is the ClusterExtension of a backup; nil when there is none, or another one of that name.
func (m *Mover) extension(ctx context.Context, b *migrate.Backup) (*olmv1.ClusterExtension, error) {
	e := &olmv1.ClusterExtension{}
	err := m.Client.Get(ctx, client.ObjectKey{Name: b.Extension.Name}, e)
	if apierrors.IsNotFound(err) || err == nil && e.Annotations[migrate.AdoptsKey] != b.CSV.String() {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ClusterExtension %s: %w", b.Extension.Name, err)
	}
	return e, nil
}

// Undo gives the operator back to its Subscription. Like Run it goes on where an earlier call stopped.
func (m *Mover) Undo(ctx context.Context, v *Move, tell func(what string)) error {
	for _, s := range []step{
		{"ClusterExtension " + v.Backup.Extension.Name + " is gone, and has left what it had", m.letGo},
		{"the objects have the labels that they had", m.relabel},
		{"Subscription " + v.Plan.Subscription + " is back, and upgrades nothing yet", m.subscribe},
		{"ClusterServiceVersion " + v.Backup.CSV.String() + " is back", m.bringBack},
		{"the roles and bindings of the v0 API are back, and the objects belong to the ClusterServiceVersion", m.giveBack},
		{"the ClusterServiceVersion has succeeded", m.succeeds},
		{"what only the ClusterExtension needed is removed", m.withdraw},
		{"the Subscription upgrades as it did before", m.thaw},
	} {
		if err := s.do(ctx, v.Backup); err != nil {
			return err
		}
		tell(s.name)
	}
	return m.remove(ctx, migrate.Ref{APIVersion: "v1", Kind: "Secret", Namespace: v.key.Namespace, Name: v.key.Name})
}

// letGo deletes the ClusterExtension so that its objects stay.
func (m *Mover) letGo(ctx context.Context, b *migrate.Backup) error {
	e, err := m.extension(ctx, b)
	if err != nil {
		return err
	}
	ref := migrate.Ref{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: b.Extension.Name}
	if e != nil {
		if err := m.remove(ctx, ref, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
			return err
		}
	}
	return uninstall.Wait(ctx, func() (string, error) { // the revisions take off the objects what they have put on
		var sets olmv1.ClusterObjectSetList
		if err := m.Client.List(ctx, &sets); err != nil {
			return "", fmt.Errorf("list the revisions of ClusterExtension %s: %w", b.Extension.Name, err)
		}
		for i := range sets.Items {
			if s := &sets.Items[i]; metav1.GetControllerOf(s) == nil && revision.NameOf(s) == b.Extension.Name {
				return "ClusterObjectSet " + s.Name + " is still there: is the manager running?", nil
			}
		}
		return "", nil
	})
}

// relabel makes the objects findable for the controllers of the v0 API before there is a ClusterServiceVersion that looks for them.
func (m *Mover) relabel(ctx context.Context, b *migrate.Backup) error { return m.restore(ctx, b, "") }

func (m *Mover) restore(ctx context.Context, b *migrate.Backup, uid types.UID) error {
	for _, u := range slices.Concat(b.Adopted, b.Left) {
		if isCondition(u) {
			continue
		}
		err := m.edit(ctx, migrate.RefOf(u), func(o client.Object) bool { return migrate.Restore(o, migrate.Meta(u), b.CSV, uid, revisionManager) })
		if err != nil {
			return err
		}
	}
	return nil
}

// succeeds waits for the ClusterServiceVersion.
func (m *Mover) succeeds(ctx context.Context, b *migrate.Backup) error {
	return uninstall.Wait(ctx, func() (string, error) {
		csv := &v1alpha1.ClusterServiceVersion{}
		if err := m.Client.Get(ctx, client.ObjectKey{Namespace: b.CSV.Namespace, Name: b.CSV.Name}, csv); err != nil {
			return "", fmt.Errorf("read ClusterServiceVersion %s: %w", b.CSV, err)
		}
		if csv.Status.Phase != v1alpha1.CSVPhaseSucceeded {
			return fmt.Sprintf("ClusterServiceVersion %s is in phase %q: %s", b.CSV, csv.Status.Phase, csv.Status.Message), nil
		}
		return "", nil
	})
}

// withdraw removes what the ClusterExtension had besides, unless it belongs to somebody by now.
func (m *Mover) withdraw(ctx context.Context, b *migrate.Backup) error {
	for _, ref := range slices.Backward(b.Added) {
		live, err := m.read(ctx, ref)
		if err != nil && !meta.IsNoMatchError(err) {
			return err
		}
		if live == nil || metav1.GetControllerOf(live) != nil {
			continue
		}
		if err := m.remove(ctx, ref); err != nil {
			return err
		}
	}
	return nil
}

// thaw gives the Subscription its approval back. InstallPlans that were made meanwhile go; those that were complete are history, and do not
// come back: whoever made one would have to keep the managers from carrying it out again.
func (m *Mover) thaw(ctx context.Context, b *migrate.Backup) error {
	sub := &v1alpha1.Subscription{}
	if err := m.Client.Get(ctx, client.ObjectKeyFromObject(b.Subscription), sub); err != nil {
		return fmt.Errorf("read Subscription %s/%s: %w", b.CSV.Namespace, b.Subscription.GetName(), err)
	}
	if err := m.plans(ctx, b, sub); err != nil {
		return err
	}
	if sub.Annotations[frozenKey] == "" {
		return nil
	}
	before := sub.DeepCopy()
	delete(sub.Annotations, frozenKey)
	approval, _, _ := unstructured.NestedString(b.Subscription.Object, "spec", "installPlanApproval")
	if sub.Spec != nil {
		sub.Spec.InstallPlanApproval = v1alpha1.Approval(approval)
	}
	if err := m.Client.Patch(ctx, sub, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
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
