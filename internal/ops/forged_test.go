package ops

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// forged is a backup by which a user would get all rights.
func forged(labelled bool) *migrate.Backup {
	b := aBackup()
	// Give a user all rights; labelled, it says that it is of the ClusterServiceVersion.
	u := moveObject("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "etcd-abc", map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": []any{map[string]any{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "mallory"}}})
	if labelled {
		u.SetLabels(map[string]string{v1alpha1.OwnerLabel: "etcd.v1", v1alpha1.OwnerNamespaceLabel: "tenant", v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind})
	}
	b.Removed = []*unstructured.Unstructured{u}
	return b
}

// noRights wants that nobody has got any.
func (u *undoing) noRights() {
	u.Helper()
	if err := u.Client.Get(u.Context(), client.ObjectKey{Name: "etcd-abc"}, &rbacv1.ClusterRoleBinding{}); !apierrors.IsNotFound(err) {
		u.Errorf("a forged backup has bound a user to cluster-admin (%v)", err)
	}
}

// TestForgedByTenant: who may write Secrets in the namespace of the Subscription has no say, neither with one like the backup nor with many.
func TestForgedByTenant(t *testing.T) {
	good := secretOf(t, aBackup(), nil)
	bad := secretOf(t, forged(true), nil)
	bad.Namespace, bad.UID = "tenant", "bad"
	u := newUndoing(t, good, bad)
	if _, err := u.undo(); err != nil {
		t.Errorf("another Secret is in the way: %v", err)
	}
	u.noRights()
	u = newUndoing(t, bad)
	u.refuses("0 Secrets")
	u.noRights()
}

// TestReplacedBackup: the ClusterExtension says which Secret is its backup, and what that holds.
func TestReplacedBackup(t *testing.T) {
	good := secretOf(t, aBackup(), nil)
	content := secretOf(t, forged(true), nil)
	again := secretOf(t, aBackup(), nil)
	again.UID = "made-again"
	for name, secret := range map[string]*corev1.Secret{"content": content, "UID": again} {
		t.Run(name, func(t *testing.T) {
			u := newUndoing(t, secret.DeepCopy(), movedExtension("e", moveMark(good)))
			u.refuses("none of that UID and content")
			u.noRights()
		})
	}
}

// TestBackupOfNobody: a backup does not make again what is not the ClusterServiceVersion's.
func TestBackupOfNobody(t *testing.T) {
	u := newUndoing(t, secretOf(t, forged(false), map[string]string{madeKey: "e"}))
	u.refuses("does not have the labels of ClusterServiceVersion tenant/etcd.v1")
	u.noRights()
	b := aBackup()
	b.Removed = []*unstructured.Unstructured{moveObject("v1", "Pod", "kube-system", "p", nil)}
	newUndoing(t, secretOf(t, b, map[string]string{madeKey: "e"})).refuses("only roles and bindings")
	b = aBackup()
	b.Extension.Spec.Namespace = "kube-system"
	newUndoing(t, secretOf(t, b, map[string]string{madeKey: "e"})).refuses("does not take ClusterServiceVersion tenant/etcd.v1 over")
}

// TestRightsAreShown: who is asked sees to whom rights are given.
func TestRightsAreShown(t *testing.T) {
	u := newUndoing(t, secretOf(t, forged(true), map[string]string{madeKey: "e"}))
	v := must.Value(u.Find(t.Context(), "etcd"))(t)
	var out bytes.Buffer
	must.NoError(t, v.WriteBack(&out))
	if want := "ClusterRoleBinding etcd-abc: ClusterRole cluster-admin for User mallory"; !strings.Contains(out.String(), want) || !slices.Contains(v.Rights, want) {
		t.Errorf("%q is not shown:\n%s", want, out.String())
	}
}

// TestManyBackups: the ClusterExtension tells its backup from those of earlier migrations.
func TestManyBackups(t *testing.T) {
	old := secretOf(t, aBackup(), nil)
	old.Name, old.UID = "fairlead-migration-tenant.old", "old"
	mine := secretOf(t, aBackup(), map[string]string{madeKey: "e"})
	u := newUndoing(t, mine, old, movedExtension("e", moveMark(mine)))
	v, err := u.Find(t.Context(), "etcd")
	if err != nil || v.BackupSecret != "olm/"+mine.Name {
		t.Errorf("found %+v: %v", v, err)
	}
	newUndoing(t, mine, old).refuses("2 Secrets")
}
