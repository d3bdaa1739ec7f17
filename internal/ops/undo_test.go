package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// undoing is a cluster where etcd.v1 of namespace tenant became ClusterExtension etcd, or was about to.
type undoing struct {
	*testing.T
	*Mover
	secret *corev1.Secret
}

func moveObject(apiVersion, kind, namespace, name string, more map[string]any) *unstructured.Unstructured {
	u := migrate.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}.Object()
	for k, v := range more {
		u.Object[k] = v
	}
	return u
}

func aBackup() *migrate.Backup {
	v := v1alpha1.GroupVersion.String()
	b := &migrate.Backup{CSV: migrate.CSV{Namespace: "tenant", Name: "etcd.v1"},
		Subscription: moveObject(v, "Subscription", "tenant", "etcd", map[string]any{"spec": map[string]any{"name": "etcd", "source": "c", "sourceNamespace": "olm"}, "status": map[string]any{"installedCSV": "etcd.v1"}}),
		Version:      moveObject(v, "ClusterServiceVersion", "tenant", "etcd.v1", map[string]any{"spec": map[string]any{}, "status": map[string]any{"phase": "Succeeded"}}),
		Extension:    &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "etcd", Annotations: map[string]string{migrate.AdoptsKey: "tenant/etcd.v1"}}},
	}
	b.Subscription.SetUID("sub")
	b.Extension.Spec.Namespace = "tenant"
	b.Extension.Spec.Source.SourceType = olmv1.SourceTypeCatalog
	return b
}

func secretOf(t *testing.T, b *migrate.Backup, notes map[string]string) *corev1.Secret {
	t.Helper()
	data := must.Value(b.Pack())(t)
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "fairlead-migration-tenant.etcd", UID: "secret", Labels: map[string]string{Label: "true"}, Annotations: map[string]string{ExtensionKey: "etcd"}},
		Type: secretType, Data: map[string][]byte{backupData: data}}
	for k, v := range notes {
		s.Annotations[k] = v
	}
	return s
}

func newUndoing(t *testing.T, s *corev1.Secret, objects ...client.Object) *undoing {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, rbacv1.AddToScheme, olmv1.AddToScheme, operatorsv1.AddToScheme, v1alpha1.AddToScheme} {
		must.NoError(t, add(scheme))
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithStatusSubresource(&v1alpha1.Subscription{}, &v1alpha1.ClusterServiceVersion{}).WithObjects(append(objects, s)...).Build()
	return &undoing{t, &Mover{Client: c, Namespace: "olm"}, s}
}

// movedExtension is the one that was made, with the mark that is given.
func movedExtension(uid types.UID, marked string) *olmv1.ClusterExtension {
	e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "etcd", UID: uid}}
	if marked != "" {
		e.Annotations = map[string]string{MarkKey: marked}
	}
	return e
}

func subscription(uid types.UID, pkg, installed string, frozen bool) *v1alpha1.Subscription {
	s := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "etcd", UID: uid},
		Spec: &v1alpha1.SubscriptionSpec{Package: pkg, InstallPlanApproval: v1alpha1.ApprovalManual}, Status: v1alpha1.SubscriptionStatus{InstalledCSV: installed}}
	if frozen {
		s.Annotations = map[string]string{frozenKey: "etcd"}
	}
	return s
}

// undo goes back, and returns what was told; the error is also why that was refused.
func (u *undoing) undo() (told string, err error) {
	u.Helper()
	ctx, stop := context.WithTimeout(u.Context(), 20*time.Second)
	defer stop()
	v, err := u.Find(ctx, "etcd")
	if err != nil {
		return "", err
	}
	var all []string
	err = u.Undo(ctx, v, func(s string) { all = append(all, s) })
	return strings.Join(all, "\n"), err
}

// refuses goes back in vain: the error says why, and nothing comes back or is deleted.
func (u *undoing) refuses(why string) {
	u.Helper()
	told, err := u.undo()
	if err == nil || !strings.Contains(err.Error(), why) {
		u.Errorf("undo: %v, want an error with %q", err, why)
	}
	if told != "" {
		u.Errorf("undo told: %s", told)
	}
	if u.is("ClusterServiceVersion", "tenant", "etcd.v1") {
		u.Error("the ClusterServiceVersion is back")
	}
	if err := u.Client.Get(u.Context(), client.ObjectKeyFromObject(u.secret), &corev1.Secret{}); err != nil {
		u.Errorf("the backup: %v", err)
	}
}

// is tells whether an object of the v0 API is there.
func (u *undoing) is(kind, namespace, name string) bool {
	u.Helper()
	live, err := access{u.Client}.read(u.Context(), migrate.Ref{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Namespace: namespace, Name: name})
	if err != nil {
		u.Fatal(err)
	}
	return live != nil
}

// backupGone wants the way back to have ended.
func (u *undoing) backupGone() {
	u.Helper()
	if err := u.Client.Get(u.Context(), client.ObjectKeyFromObject(u.secret), &corev1.Secret{}); !apierrors.IsNotFound(err) {
		u.Errorf("the backup is still there: %v", err)
	}
}

// TestLettingGoIsNotLeftToTheGarbageCollector: it forgets what was asked for once nothing that it has heard of refers to the ClusterExtension.
func TestLettingGoIsNotLeftToTheGarbageCollector(t *testing.T) {
	b := aBackup()
	secret := secretOf(t, b, nil)
	b.Kept.Mark = moveMark(secret)
	u := newUndoing(t, secret, movedExtension("e", b.Kept.Mark))
	var said []string
	u.Client = interceptor.NewClient(u.Client.(client.WithWatch), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			live := &olmv1.ClusterExtension{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(o), live); err != nil {
				return err
			}
			how := (&client.DeleteOptions{}).ApplyOptions(options).PropagationPolicy
			said = append(said, fmt.Sprintf("%s %t", *how, revision.Orphans(live)))
			return c.Delete(ctx, o, options...)
		}})
	must.NoError(t, (restoration{u.record(b)}).letGo(t.Context()))
	if !slices.Equal(said, []string{"Orphan true"}) {
		t.Errorf("deleted: %q", said)
	}
}
