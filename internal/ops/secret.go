package ops

import (
	"bytes"
	"context"
	"fmt"

	"fairlead.dev/fairlead/internal/ops/migrate"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// moveOwner is the field manager of what commands write for their users.
	moveOwner = client.FieldOwner("fairlead")
	// Label is on the Secrets with backups, and ExtensionKey is the annotation with the name of the ClusterExtension, which may be too long for
	// a label.
	Label        = "operators.fairlead.dev/migration"
	ExtensionKey = "operators.fairlead.dev/migrated-to"
	// DoneKey is the annotation of the Secret that says when all was done.
	DoneKey = "operators.fairlead.dev/migrated"
	// frozenKey is the annotation of a Subscription that must not upgrade anything meanwhile.
	frozenKey = migrate.MigratingKey
	hold      = migrate.Hold

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
	// Unbegun says of the way back that nothing was adopted, so that nothing has to be given back, and Returned that all is given back already.
	Unbegun  bool `json:"unbegun,omitempty"`
	Returned bool `json:"returned,omitempty"`
	// Rights are the roles and bindings that come back, with what they allow.
	Rights []string `json:"rights,omitempty"`

	key client.ObjectKey // of the Secret
}

// secretKey is where the backup of a Subscription is: not in its namespace, where those who may write Secrets there could write one by which
// the one who goes back makes roles and bindings for them. A namespace has no dot in its name.
func (m *Mover) secretKey(subscription client.ObjectKey) client.ObjectKey {
	return client.ObjectKey{Namespace: m.Namespace, Name: "fairlead-migration-" + subscription.Namespace + "." + subscription.Name}
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
	b.Kept = keptOf(s)
	return s, b, nil
}

// save writes the backup. It belongs to no one, so that it goes with nothing.
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
		v.Backup.Kept = keptOf(there)
		return nil
	case err == nil: // of an attempt that has changed nothing
		err = m.Client.Delete(ctx, there, client.Preconditions{UID: &there.UID})
	case apierrors.IsNotFound(err):
		err = nil
	}
	if err == nil {
		err = m.Client.Create(ctx, s, moveOwner)
	}
	if err != nil {
		return fmt.Errorf("keep a backup in Secret %s: %w", v.key, err)
	}
	v.Backup.Kept = keptOf(s)
	return nil
}
