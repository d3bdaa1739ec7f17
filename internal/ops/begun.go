package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops/migrate"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// begun finds a migration that was begun; nil when there is none. One that has only its backup is begun again: what there is may have changed.
func (m *Mover) begun(ctx context.Context, key client.ObjectKey) (*Move, error) {
	at := m.secretKey(key)
	s, b, err := m.backup(ctx, at)
	if err != nil || s == nil {
		return nil, err
	}
	v := &Move{Plan: summary(b, at), Backup: b, key: at, Begun: true, Done: s.Annotations[DoneKey] != ""}
	r := m.record(b)
	sub, err := r.read(ctx, migrate.RefOf(b.Subscription))
	if err == nil {
		err = m.another(sub, v)
	}
	if err != nil {
		return nil, fmt.Errorf("migrate Subscription %s: Secret %s %w", key, at, err)
	}
	e, err := r.extension(ctx)
	frozen := sub != nil && sub.GetAnnotations()[frozenKey] != ""
	switch {
	case err != nil:
		return nil, fmt.Errorf("migrate Subscription %s: %w; or give the Subscription back with %s", key, err, m.undoCommand(b.Extension.Name))
	case e == nil && b.Kept.Extension != "":
		return nil, fmt.Errorf("migrate Subscription %s: ClusterExtension %s, which it had become, is not there any more: %s goes back; or delete Secret %s, and there is no way back", key, b.Extension.Name, m.undoCommand(b.Extension.Name), at)
	case e != nil && sub != nil && !frozen:
		return nil, fmt.Errorf("migrate Subscription %s: another client has removed its annotation %s while it was being migrated: %s shows the live state", key, frozenKey, m.undoCommand(b.Extension.Name))
	case e != nil:
		return v, nil
	case sub == nil:
		return nil, fmt.Errorf("migrate Subscription %s: there is none, and Secret %s is of a migration that took nothing over: %s deletes that", key, at, m.undoCommand(b.Extension.Name))
	case frozen:
		return v, m.asBefore(ctx, key, b)
	}
	return nil, nil
}

// another says that a backup is of another Subscription than that of the name; what it says is said of the Secret.
func (m *Mover) another(sub *unstructured.Unstructured, v *Move) error {
	name := v.Backup.Extension.Name
	switch {
	case sub == nil || sub.GetUID() == v.Backup.Subscription.GetUID():
		return nil
	case sub.GetAnnotations()[frozenKey] == name:
		return fmt.Errorf("has the backup, and going back was begun: %s continues with that", m.undoCommand(name))
	case v.Done:
		return fmt.Errorf("has the backup of an earlier one of that name, which is ClusterExtension %s now: delete the Secret when there is no need for the way back", name)
	}
	return fmt.Errorf("has the backup of another Subscription of that name: %s returns to that; or delete the Secret, and there is no way back", m.undoCommand(name))
}

// asBefore refuses to go on where the ClusterExtension that is still to be made would be another one now: it is what a user has agreed to, and
// what the Subscription asks for.
func (m *Mover) asBefore(ctx context.Context, key client.ObjectKey, b *migrate.Backup) error {
	in, err := access{m.Client}.install(ctx, key)
	if err != nil {
		return err
	}
	w := migrate.Preferences{Name: b.Extension.Name}
	if c := b.Extension.Spec.Source.Catalog; c != nil && c.Selector != nil {
		w.Catalog = c.Selector.MatchLabels[olmv1.MetadataNameKey]
	}
	e, err := in.Extension(w)
	if err != nil {
		return err
	}
	now, err := json.Marshal(e.Spec)
	if err != nil {
		return fmt.Errorf("write ClusterExtension %s as JSON: %w", e.Name, err)
	}
	kept, err := json.Marshal(b.Extension.Spec)
	if err != nil {
		return fmt.Errorf("write ClusterExtension %s of the backup as JSON: %w", e.Name, err)
	}
	if in.Names() == b.CSV && in.CSV.UID == b.Version.GetUID() && bytes.Equal(now, kept) {
		return nil
	}
	return fmt.Errorf("migrate Subscription %s: it has changed since the migration was begun: ClusterServiceVersion %s would become %s, and the backup has %s with %s; %s takes back what was begun, then start over",
		key, in.Names(), now, b.CSV, kept, m.undoCommand(b.Extension.Name))
}
