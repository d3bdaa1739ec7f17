package ops

import (
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestAnnotationGone: a ClusterExtension that lacks the annotations is still the one that was made, and no other takes its place.
func TestAnnotationGone(t *testing.T) {
	s := secretOf(t, aBackup(), map[string]string{madeKey: "e"})
	yes := true
	set := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: "etcd-2", UID: "s", Labels: map[string]string{olmv1.OwnerNameKey: "etcd", olmv1.OwnerKindKey: olmv1.ClusterExtensionKind},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: "ClusterExtension", Name: "etcd", UID: "e", Controller: &yes}}}}
	set.Spec.Revision = 2
	newUndoing(t, s.DeepCopy(), movedExtension("e", moveMark(s)), set).refuses("has had another revision since")
	newUndoing(t, s.DeepCopy(), movedExtension("e", ""), set).refuses("does not note that this is its backup")
	newUndoing(t, s.DeepCopy(), movedExtension("other", ""), set).refuses("had UID e, and this one has other")
}

// TestNeverBegan: a command that was killed before it changed anything leaves nothing to give back, whatever was installed since.
func TestNeverBegan(t *testing.T) {
	b := aBackup()
	account := moveObject("v1", "ServiceAccount", "tenant", "etcd", nil)
	account.SetLabels(map[string]string{v1alpha1.OwnerLabel: "etcd.v1"})
	b.Adopted = []*unstructured.Unstructured{account}
	b.Added = []migrate.Ref{{APIVersion: "v1", Kind: "ConfigMap", Namespace: "tenant", Name: "settings"}}
	live := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "etcd", Labels: map[string]string{v1alpha1.OwnerLabel: "etcd.v2"}}}
	users := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "settings", UID: "users"}}
	for name, sub := range map[string]*v1alpha1.Subscription{"untouched": subscription("sub", "etcd", "etcd.v2", false), "frozen": subscription("sub", "etcd", "etcd.v1", true), "another": subscription("new", "other", "other.v7", false)} {
		t.Run(name, func(t *testing.T) {
			u := newUndoing(t, secretOf(t, b, nil), sub.DeepCopy(), live.DeepCopy(), users.DeepCopy(), movedExtension("foreign", ""))
			if told, err := u.undo(); err != nil || told != "" {
				t.Fatalf("undo: %v, told %q", err, told)
			}
			u.backupGone()
			if u.is("ClusterServiceVersion", "tenant", "etcd.v1") {
				t.Error("the old version is back")
			}
			account, is := &corev1.ServiceAccount{}, &v1alpha1.Subscription{}
			u.get(live, account)
			u.get(sub, is)
			u.get(users, &corev1.ConfigMap{})
			u.get(movedExtension("", ""), &olmv1.ClusterExtension{})
			must.Equal(t, "labels of the ServiceAccount", account.Labels[v1alpha1.OwnerLabel], "etcd.v2")
			if is.Status.InstalledCSV != sub.Status.InstalledCSV || len(is.Annotations) > 0 || (is.Spec.InstallPlanApproval == "") != (name == "frozen") {
				t.Errorf("the Subscription: %v %+v %+v", is.Annotations, is.Spec, is.Status)
			}
		})
	}
}

// TestForeignWithObjects: a ClusterExtension that lacks the mark, and has what was to be taken over, is not passed over in silence.
func TestForeignWithObjects(t *testing.T) {
	b := aBackup()
	b.Adopted = []*unstructured.Unstructured{moveObject("v1", "ServiceAccount", "tenant", "etcd", nil)}
	live := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "etcd", OwnerReferences: []metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: "ClusterExtension", Name: "etcd", UID: "e"}}}}
	newUndoing(t, secretOf(t, b, nil), live, movedExtension("e", ""), subscription("sub", "etcd", "etcd.v1", true)).refuses("it has ServiceAccount tenant/etcd")
}

// TestAnotherSubscription: what somebody has made of that name since is not written.
func TestAnotherSubscription(t *testing.T) {
	for name, c := range map[string]struct {
		sub *v1alpha1.Subscription
		why string
	}{
		"package":   {subscription("new", "other", "other.v7", true), "asks for package other"},
		"made anew": {subscription("new", "etcd", "", false), "has no annotation operators.fairlead.dev/migrating: etcd"},
		"upgraded":  {subscription("sub", "etcd", "etcd.v2", true), "has installed etcd.v2 meanwhile"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUndoing(t, secretOf(t, aBackup(), map[string]string{madeKey: "e"}), c.sub.DeepCopy())
			u.refuses(c.why)
			is := &v1alpha1.Subscription{}
			u.get(c.sub, is)
			if is.Status.InstalledCSV != c.sub.Status.InstalledCSV || is.Spec.InstallPlanApproval != v1alpha1.ApprovalManual {
				t.Errorf("the Subscription: %+v %+v", is.Spec, is.Status)
			}
		})
	}
}

// TestReturned: a command that was killed when all was given back has only the backup to delete.
func TestReturned(t *testing.T) {
	u := newUndoing(t, secretOf(t, aBackup(), map[string]string{madeKey: "e", returnedKey: "new"}), subscription("new", "etcd", "etcd.v1", false))
	if told, err := u.undo(); err != nil || told != "" {
		t.Fatalf("undo: %v, told %q", err, told)
	}
	u.backupGone()
}

// TestWithdrawByUID: what has another UID than the ClusterExtension's is somebody else's, and so is what was never noted, unless a revision has
// written it.
func TestWithdrawByUID(t *testing.T) {
	b := aBackup()
	var live []client.Object
	for _, name := range []string{"added", "late", "made-again", "users"} {
		b.Added = append(b.Added, migrate.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "tenant", Name: name})
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: name, UID: "uid-1"}}
		if name != "users" {
			c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: revisionManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`)}}
		}
		live = append(live, c)
	}
	s := secretOf(t, b, map[string]string{addedKey: "uid-1,,uid-0,"})
	u := newUndoing(t, s, live...)
	b.Kept = keptOf(s)
	must.NoError(t, (restoration{u.record(b)}).withdraw(t.Context()))
	var left corev1.ConfigMapList
	if err := u.Client.List(t.Context(), &left); err != nil || len(left.Items) != 2 || left.Items[0].Name != "made-again" || left.Items[1].Name != "users" {
		t.Errorf("left %v: %v", left.Items, err)
	}
}

// get reads an object that has to be there.
func (u *undoing) get(which, into client.Object) {
	u.Helper()
	if err := u.Client.Get(u.Context(), client.ObjectKeyFromObject(which), into); err != nil {
		u.Fatal(err)
	}
}

// TestNothingOfRevisionsIsLeft: a next migration takes the objects over again, which it would not were they marked as a former revision's.
func TestNothingOfRevisionsIsLeft(t *testing.T) {
	b := aBackup()
	had := moveObject("v1", "ConfigMap", "tenant", "settings", nil)
	had.SetLabels(map[string]string{v1alpha1.OwnerLabel: "etcd.v1", olmv1.GroupName + "/mine": "x"})
	b.Adopted = []*unstructured.Unstructured{had}
	live := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "settings", Labels: map[string]string{olmv1.OwnerNameKey: "etcd", olmv1.GroupName + "/mine": "x", "users": "y"},
		Annotations: map[string]string{olmv1.GroupName + "/revision": "1", "users": "y"}}}
	u := newUndoing(t, secretOf(t, b, nil), live)
	must.NoError(t, (restoration{u.record(b)}).restore(t.Context(), ""))
	is := &corev1.ConfigMap{}
	u.get(live, is)
	must.Equal(t, "labels", is.Labels, map[string]string{v1alpha1.OwnerLabel: "etcd.v1", olmv1.GroupName + "/mine": "x", "users": "y"})
	must.Equal(t, "annotations", is.Annotations, map[string]string{"users": "y"})
}
