package ops

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// MarkKey is the annotation of the ClusterExtension that says which Secret has its backup, and what that holds.
	MarkKey = "operators.fairlead.dev/migration-backup"
	// These are annotations of the Secret, with what migrate.Kept has.
	madeKey     = "operators.fairlead.dev/migrated-uid"
	addedKey    = "operators.fairlead.dev/migration-added"
	returnedKey = "operators.fairlead.dev/migration-returned"
)

// moveMark is a Secret of a UID and a content.
func moveMark(s *corev1.Secret) string {
	return fmt.Sprintf("%s/%s uid:%s sha256:%x", s.Namespace, s.Name, s.UID, sha256.Sum256(s.Data[backupData]))
}

// keptOf is what was noted on a Secret.
func keptOf(s *corev1.Secret) migrate.Kept {
	k := migrate.Kept{Mark: moveMark(s), Extension: types.UID(s.Annotations[madeKey]), Returned: types.UID(s.Annotations[returnedKey])}
	if text, ok := s.Annotations[addedKey]; ok {
		for _, uid := range strings.Split(text, ",") {
			k.Added = append(k.Added, types.UID(uid))
		}
	}
	return k
}

// note writes an annotation of the Secret of a backup.
func (m record) note(ctx context.Context, key, value string) error {
	b := m.Backup
	name, _, _ := strings.Cut(b.Kept.Mark, " ")
	namespace, name, _ := strings.Cut(name, "/")
	found := false
	err := m.edit(ctx, migrate.Ref{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: name}, func(o client.Object) bool {
		annotations := o.GetAnnotations()
		if found = true; annotations[key] == value {
			return false
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
		o.SetAnnotations(annotations)
		return true
	})
	if err == nil && !found {
		return fmt.Errorf("note %s on Secret %s/%s, which has the backup: another client has deleted it meanwhile", key, namespace, name)
	}
	return err
}

// anotherError says that a ClusterExtension of the name is there which the migration has not made.
type anotherError struct {
	extension *olmv1.ClusterExtension
	why       string
}

func (e *anotherError) Error() string {
	return fmt.Sprintf("ClusterExtension %s is not the one of the migration: %s; uninstall it first, or see with kubectl get clusterextension %[1]s -o yaml whose it is", e.extension.Name, e.why)
}

// extension is the ClusterExtension of a backup; nil when there is none. Another one of that name, and one that notes another backup, are
// errors: going back from that would leave two APIs with the same objects.
func (m record) extension(ctx context.Context) (*olmv1.ClusterExtension, error) {
	b := m.Backup
	e := &olmv1.ClusterExtension{}
	err := m.Client.Get(ctx, client.ObjectKey{Name: b.Extension.Name}, e)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ClusterExtension %s: %w", b.Extension.Name, err)
	}
	marked := e.Annotations[MarkKey] == b.Kept.Mark
	switch {
	case b.Kept.Extension != "" && e.UID != b.Kept.Extension:
		return nil, &anotherError{e, fmt.Sprintf("that had UID %s, and this one has %s", b.Kept.Extension, e.UID)}
	case marked:
		return e, nil
	case b.Kept.Extension == "":
		return nil, &anotherError{e, fmt.Sprintf("its annotation %s is %q, and not %q", MarkKey, e.Annotations[MarkKey], b.Kept.Mark)}
	}
	return nil, fmt.Errorf("ClusterExtension %s does not note that this is its backup: its annotation %s is %q, and the backup is %[4]q; if the annotation was changed and you trust the Secret: "+
		"kubectl annotate --overwrite clusterextension %[1]s '%[2]s=%[4]s'", e.Name, MarkKey, e.Annotations[MarkKey], b.Kept.Mark)
}

// unbegun tells whether nothing was adopted: the ClusterExtension was never made.
func (m record) unbegun(ctx context.Context) (bool, error) {
	b := m.Backup
	e, err := m.extension(ctx)
	var another *anotherError
	if b.Kept.Extension == "" && errors.As(err, &another) {
		owners, err2 := m.owners(ctx, another.extension)
		if err2 != nil {
			return false, err2
		}
		for _, u := range b.Adopted {
			live, err2 := m.read(ctx, migrate.RefOf(u))
			if err2 != nil {
				return false, err2
			}
			if live != nil && ownedBy(live, owners) {
				return false, fmt.Errorf("%w; it has %s", err, migrate.RefOf(u))
			}
		}
		return true, nil
	}
	return err == nil && e == nil && b.Kept.Extension == "", err
}

// owners are the UIDs of a ClusterExtension and of its revisions.
func (m record) owners(ctx context.Context, e *olmv1.ClusterExtension) (map[types.UID]bool, error) {
	out := map[types.UID]bool{e.UID: true}
	sets, err := revision.List(ctx, m.Client, e.Name, e.UID)
	for i := range sets {
		out[sets[i].UID] = true
	}
	return out, err
}

func ownedBy(o metav1.Object, owners map[types.UID]bool) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return owners[r.UID] })
}

// noteMade notes which ClusterExtension was made.
func (m record) noteMade(ctx context.Context, e *olmv1.ClusterExtension) error {
	b := m.Backup
	if b.Kept.Extension != "" {
		return nil
	}
	if err := m.note(ctx, madeKey, string(e.UID)); err != nil {
		return err
	}
	b.Kept.Extension = e.UID
	return nil
}

// noteAdded notes what the ClusterExtension has besides: what users have made of the same name since is not removed on the way back.
func (m record) noteAdded(ctx context.Context) error {
	b := m.Backup
	e, err := m.extension(ctx)
	if err != nil || e == nil || len(b.Added) == 0 {
		return err
	}
	owners, err := m.owners(ctx, e)
	if err != nil {
		return err
	}
	added := make([]types.UID, len(b.Added))
	copy(added, b.Kept.Added)
	var texts []string
	for i, ref := range b.Added {
		live, err := m.read(ctx, ref)
		if err != nil {
			return err
		}
		if live != nil && ownedBy(live, owners) {
			added[i] = live.GetUID()
		}
		texts = append(texts, string(added[i]))
	}
	b.Kept.Added = added
	return m.note(ctx, addedKey, strings.Join(texts, ","))
}
