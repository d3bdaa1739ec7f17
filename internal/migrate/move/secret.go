package move

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/internal/migrate"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// fieldOwner is the field manager of what commands write for their users.
	fieldOwner = client.FieldOwner("fairlead")
	// Label is on the Secrets with backups, and ExtensionKey is the annotation with the name of the ClusterExtension, which may be too long for
	// a label.
	Label        = "operators.fairlead.dev/migration"
	ExtensionKey = "operators.fairlead.dev/migrated-to"
	// DoneKey is the annotation of the Secret that says when all was done.
	DoneKey = "operators.fairlead.dev/migrated"
	// frozenKey is the annotation of a Subscription that must not upgrade anything meanwhile.
	frozenKey = migrate.MigratingKey
	// hold is the finalizer that keeps a ClusterServiceVersion in sight, as one that is being deleted, until its Subscription is gone.
	hold = "operators.fairlead.dev/migration"

	secretType = corev1.SecretType("operators.fairlead.dev/migration")
	backupData = "backup.json.gz"
)

// Move is a migration: what is to be done, and what there was before.
type Move struct {
	*migrate.Plan
	Backup *migrate.Backup `json:"-"`
	// Begun says that it was begun before, and Done that nothing is left to do.
	Begun bool `json:"begun,omitempty"`
	Done  bool `json:"done,omitempty"`

	key client.ObjectKey // of the Secret
}

// secretKey is where the backup of a Subscription is: not in its namespace, where those who may write Secrets there could write one by which
// whoever goes back makes roles and bindings for them. A namespace has no dot in its name.
func (m *Mover) secretKey(subscription client.ObjectKey) client.ObjectKey {
	return client.ObjectKey{Namespace: m.Namespace, Name: "fairlead-migration-" + subscription.Namespace + "." + subscription.Name}
}

// begun finds a migration that was begun; nil when there is none. One that has only its backup is begun anew: what there is may have changed.
func (m *Mover) begun(ctx context.Context, key client.ObjectKey) (*Move, error) {
	at := m.secretKey(key)
	s, b, err := m.backup(ctx, at)
	if err != nil || s == nil {
		return nil, err
	}
	move := &Move{Plan: summary(b, at), Backup: b, key: at, Begun: true, Done: s.Annotations[DoneKey] != ""}
	sub, err := m.read(ctx, migrate.RefOf(b.Subscription))
	switch {
	case err != nil:
		return nil, err
	case sub == nil:
		return move, nil
	case sub.GetUID() != b.Subscription.GetUID() && !move.Done:
		return nil, fmt.Errorf("migrate Subscription %s: Secret %s has the backup of another Subscription of that name: fairlead migrate --undo %s goes back to that; "+
			"or delete the Secret, and there is no way back", key, at, b.Extension.Name)
	case sub.GetUID() != b.Subscription.GetUID():
		return nil, fmt.Errorf("migrate Subscription %s: Secret %s has the backup of an earlier one of that name, which is ClusterExtension %s now: delete the Secret when there is no need for the way back",
			key, at, b.Extension.Name)
	case sub.GetAnnotations()[frozenKey] == "":
		return nil, nil
	}
	return move, nil
}

// summary is the plan of a migration that was begun.
func summary(b *migrate.Backup, at client.ObjectKey) *migrate.Plan {
	p := &migrate.Plan{Subscription: b.Subscription.GetNamespace() + "/" + b.Subscription.GetName(), CSV: b.CSV.String(), Extension: b.Extension, BackupSecret: at.String(), Added: b.Added}
	for _, u := range b.Adopted {
		p.Adopted = append(p.Adopted, migrate.Adopted{Ref: migrate.RefOf(u)})
	}
	p.Removed = append(p.Removed, migrate.RefOf(b.Subscription), migrate.RefOf(b.Version))
	for _, u := range b.Plans {
		p.Removed = append(p.Removed, migrate.RefOf(u))
	}
	for _, u := range b.Removed {
		p.Removed = append(p.Removed, migrate.RefOf(u))
	}
	return p
}

// backup reads a Secret with a backup; nil when there is none.
func (m *Mover) backup(ctx context.Context, at client.ObjectKey) (*corev1.Secret, *migrate.Backup, error) {
	s := &corev1.Secret{}
	err := m.Client.Get(ctx, at, s)
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read Secret %s, which may have a backup: %w", at, err)
	}
	if s.Type != secretType {
		return nil, nil, fmt.Errorf("read Secret %s: it is of type %q and no backup; delete or rename it", at, s.Type)
	}
	b, err := migrate.Unpack(s.Data[backupData])
	if err != nil {
		return nil, nil, fmt.Errorf("read Secret %s: %w", at, err)
	}
	return s, b, nil
}

// save writes the backup. It belongs to nobody, so that it goes with nothing.
func (m *Mover) save(ctx context.Context, v *Move) error {
	data, err := v.Backup.Pack()
	if err != nil {
		return fmt.Errorf("keep a backup in Secret %s: %w", v.key, err)
	}
	yes := true
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v.key.Namespace, Name: v.key.Name, Labels: map[string]string{Label: "true"},
		Annotations: map[string]string{ExtensionKey: v.Backup.Extension.Name}},
		Type: secretType, Immutable: &yes, Data: map[string][]byte{backupData: data}}
	there := &corev1.Secret{}
	err = m.Client.Get(ctx, v.key, there)
	switch {
	case err == nil && bytes.Equal(there.Data[backupData], data):
		return nil
	case err == nil: // of an attempt that has changed nothing
		err = m.Client.Delete(ctx, there, client.Preconditions{UID: &there.UID})
	case apierrors.IsNotFound(err):
		err = nil
	}
	if err == nil {
		err = m.Client.Create(ctx, s, fieldOwner)
	}
	if err != nil {
		return fmt.Errorf("keep a backup in Secret %s: %w", v.key, err)
	}
	return nil
}

// done notes that nothing is left to do.
func (m *Mover) done(ctx context.Context, at client.ObjectKey) error {
	return m.edit(ctx, migrate.Ref{APIVersion: "v1", Kind: "Secret", Namespace: at.Namespace, Name: at.Name}, func(o client.Object) bool {
		annotations := o.GetAnnotations()
		if annotations[DoneKey] != "" {
			return false
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[DoneKey] = time.Now().UTC().Format(time.RFC3339)
		o.SetAnnotations(annotations)
		return true
	})
}
