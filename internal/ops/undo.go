package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// revisionManager is the field manager of objects of revisions.
const revisionManager = olmv1.GroupName

// restoration are the steps by which a Subscription gets its operator back.
type restoration struct{ record }

// Find finds the backup of a ClusterExtension, and says why there is no way back; without that there is.
func (m *Mover) Find(ctx context.Context, extension string) (*Move, error) {
	var list corev1.SecretList
	if err := m.Client.List(ctx, &list, client.InNamespace(m.Namespace), client.HasLabels{Label}); err != nil {
		return nil, fmt.Errorf("look for the backup of ClusterExtension %s: %w", extension, err)
	}
	list.Items = slices.DeleteFunc(list.Items, func(s corev1.Secret) bool { return s.Type != secretType || s.Annotations[ExtensionKey] != extension })
	e := &olmv1.ClusterExtension{}
	if err := m.Client.Get(ctx, client.ObjectKey{Name: extension}, e); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("undo the migration: read ClusterExtension %s: %w", extension, err)
	}
	if is := e.Annotations[MarkKey]; is != "" {
		list.Items = slices.DeleteFunc(list.Items, func(s corev1.Secret) bool { return moveMark(&s) != is })
		if len(list.Items) == 0 {
			return nil, fmt.Errorf("undo the migration of ClusterExtension %s: it notes that its backup is Secret %s, and namespace %s has no such Secret: none of that UID and content. "+
				"What else is there is not trusted. If the backup is in another namespace, name that with --backup-namespace", extension, is, m.Namespace)
		}
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("undo the migration of ClusterExtension %s: namespace %s has %d Secrets with its backup, and exactly one is needed: kubectl -n %[2]s get secrets -l %[4]s lists them; "+
			"delete those of earlier migrations, or name another namespace with --backup-namespace", extension, m.Namespace, len(list.Items), Label)
	}
	at := client.ObjectKeyFromObject(&list.Items[0])
	s, b, err := m.backup(ctx, at)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("read Secret %s, which has the backup: another client has deleted it meanwhile", at)
	}
	v := &Move{Plan: summary(b, at), Backup: b, Begun: true, Done: s.Annotations[DoneKey] != "", key: at}
	if v.Rights, err = b.Rights(); err != nil {
		return nil, err
	}
	return v, restoration{m.record(b)}.judge(ctx, v)
}

// Undo gives the operator back to its Subscription. Like Run it continues where an earlier call stopped.
func (m *Mover) Undo(ctx context.Context, v *Move, tell func(what string)) error {
	r := restoration{m.record(v.Backup)}
	if err := r.judge(ctx, v); err != nil { // again: a user may have thought about it for long
		return err
	}
	if len(v.Refused) > 0 {
		return fmt.Errorf("undo the migration of ClusterExtension %s: %s", v.Backup.Extension.Name, strings.Join(v.Refused, "; "))
	}
	var left []step
	switch {
	case v.Returned:
	case v.Unbegun:
		left = []step{{"", approval(r).unfreeze}}
	default:
		left = []step{
			{"", r.noteAdded},
			{"ClusterExtension " + v.Backup.Extension.Name + " is gone, and has left what it had", r.letGo},
			{"the objects have the labels that they had", func(ctx context.Context) error { return r.restore(ctx, "") }},
			{"Subscription " + v.Plan.Subscription + " is back, and upgrades nothing yet", r.subscribe},
			{"ClusterServiceVersion " + v.Backup.CSV.String() + " is back", r.bringBack},
			{"the roles and bindings of the v0 API are back, and the objects belong to the ClusterServiceVersion", r.giveBack},
			{"the ClusterServiceVersion has succeeded", r.succeeds},
			{"what only the ClusterExtension needed is removed", r.withdraw},
			{"the Subscription upgrades as it did before", approval(r).thaw},
		}
	}
	for _, s := range left {
		if err := s.do(ctx); err != nil {
			return err
		}
		if s.name != "" {
			tell(s.name)
		}
	}
	return r.remove(ctx, migrate.Ref{APIVersion: "v1", Kind: "Secret", Namespace: v.key.Namespace, Name: v.key.Name})
}

// letGo deletes the ClusterExtension so that its objects stay.
func (m restoration) letGo(ctx context.Context) error {
	b := m.Backup
	e, err := m.extension(ctx)
	if err != nil {
		return err
	}
	ref := migrate.Ref{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: b.Extension.Name}
	if e != nil {
		if err := m.noteMade(ctx, e); err != nil { // what is there afterwards is to be told from what never was
			return err
		}
		// It may have taken objects over a moment ago, of which the garbage collector has not heard.
		if err := m.edit(ctx, ref, func(o client.Object) bool { return revision.Orphan(o) }); err != nil {
			return err
		}
		if err := m.remove(ctx, ref, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
			return err
		}
	}
	return WaitRemoval(ctx, func() (string, error) { // the revisions take off the objects what they have put on
		var sets olmv1.ClusterObjectSetList
		if err := m.Client.List(ctx, &sets); err != nil {
			return "", fmt.Errorf("list the revisions of ClusterExtension %s: %w", b.Extension.Name, err)
		}
		for i := range sets.Items {
			s := &sets.Items[i]
			_, of := revision.ExtensionOf(s)
			if revision.NameOf(s) == b.Extension.Name && (metav1.GetControllerOf(s) == nil || of == b.Kept.Extension) {
				return "ClusterObjectSet " + s.Name + " is still there: is the manager running?", nil
			}
		}
		return "", nil
	})
}

// restore makes the ClusterServiceVersion of a UID the owner of what it owned. Without a UID it makes the objects findable for the controllers of the v0 API,
// before there is a ClusterServiceVersion that looks for them.
func (m restoration) restore(ctx context.Context, uid types.UID) error {
	b := m.Backup
	for _, u := range slices.Concat(b.Adopted, b.Left) {
		if u.GetKind() == "OperatorCondition" {
			continue
		}
		err := m.edit(ctx, migrate.RefOf(u), func(o client.Object) bool {
			had := migrate.Meta(u)
			disowned := disown(o, &had)
			return migrate.Restore(o, had, b.CSV, uid, revisionManager) || disowned
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// succeeds waits for the ClusterServiceVersion.
func (m restoration) succeeds(ctx context.Context) error {
	b := m.Backup
	return WaitRemoval(ctx, func() (string, error) {
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

// withdraw removes what the ClusterExtension had besides, unless it belongs to another owner by now, or a user has made another one of that name.
func (m restoration) withdraw(ctx context.Context) error {
	b := m.Backup
	for i, ref := range slices.Backward(b.Added) {
		live, err := m.read(ctx, ref)
		if err != nil {
			return err
		}
		if live == nil || metav1.GetControllerOf(live) != nil {
			continue
		}
		// An object is what the ClusterExtension had by the UID that was noted. A revision that was still being rolled out may have made more
		// since; such an object has the revision as the writer of its fields.
		had := slices.ContainsFunc(live.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == revisionManager })
		if i < len(b.Kept.Added) && b.Kept.Added[i] != "" {
			had = live.GetUID() == b.Kept.Added[i]
		}
		if !had {
			continue
		}
		if err := m.remove(ctx, ref); err != nil {
			return err
		}
	}
	return nil
}
