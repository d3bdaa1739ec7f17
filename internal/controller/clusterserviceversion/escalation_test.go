package clusterserviceversion

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// bindsEve is a RoleBinding that another client made in the operator's namespace, with the labels of the operator.
func bindsEve(csv *v1alpha1.ClusterServiceVersion) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "eves", Labels: bundle.OwnerLabels(csv)},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects:   []rbacv1.Subject{{Kind: "User", Name: "eve", APIGroup: rbacv1.GroupName}},
	}
}

// TestLabelsGiveNoPermissionsElsewhere: who may bind a role in the operator's namespace gets it there and nowhere else.
func TestLabelsGiveNoPermissionsElsewhere(t *testing.T) {
	csv := newCSV("op.v1", withoutAccounts)
	t.Run("all namespaces", func(t *testing.T) {
		k := newCluster(t, newGroup(""), bindsEve(csv))
		k.installed(csv.DeepCopy())
		must.Empty(t, "lifted", k.clusterRoles())
	})
	t.Run("one namespace", func(t *testing.T) {
		k := newCluster(t, newGroup("tenant"), newNamespace("tenant"), bindsEve(csv))
		k.installed(csv.DeepCopy())
		if b := (&rbacv1.RoleBinding{}); k.get("tenant", "eves", b) {
			t.Errorf("copied: %v", b)
		}
	})
}

// TestEditedBindingIsNotLifted: the binding of the operator is as open to edits as any other of its namespace.
func TestEditedBindingIsNotLifted(t *testing.T) {
	k := newCluster(t, newGroup(""))
	csv := newCSV("op.v1")
	k.installed(csv)
	name := permissionRole(t, csv).Name
	edit(k, ns, name, &rbacv1.RoleBinding{}, func(b *rbacv1.RoleBinding) {
		b.Subjects = append(b.Subjects, rbacv1.Subject{Kind: "User", Name: "eve", APIGroup: rbacv1.GroupName})
	})
	k.pass("op.v1")
	binding := &rbacv1.ClusterRoleBinding{}
	if !k.get("", name, binding) || len(binding.Subjects) != 1 || binding.Subjects[0].Name != "account" {
		t.Errorf("lifted binding: %+v", binding)
	}
}

var foreignRules = []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"services"}}}

// TestForeignObjectsAreLeftAlone: what has the name of something that the operator gets, and was not made for it, stays as
// it is, also when the operator goes. The operator gets what it asks for under another name.
func TestForeignObjectsAreLeftAlone(t *testing.T) {
	csv := newCSV("op.v1", withWebhooks, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.WebhookDefinitions = csv.Spec.WebhookDefinitions[:1]
		csv.Spec.InstallModes = newCSV("any").Spec.InstallModes
	})
	name := permissionRole(t, csv).Name
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	theirs := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "theirs"}
	for test, tc := range map[string]struct {
		target  string
		foreign []client.Object
	}{
		"lifted": {target: "", foreign: []client.Object{
			&rbacv1.ClusterRole{ObjectMeta: meta("", name), Rules: foreignRules},
			&rbacv1.ClusterRoleBinding{ObjectMeta: meta("", name), RoleRef: theirs},
		}},
		"copied": {target: "tenant", foreign: []client.Object{
			&rbacv1.Role{ObjectMeta: meta("tenant", name), Rules: foreignRules},
			&rbacv1.RoleBinding{ObjectMeta: meta("tenant", name), RoleRef: theirs},
		}},
		"serving": {target: "", foreign: []client.Object{
			&rbacv1.ClusterRoleBinding{ObjectMeta: meta("", "manager-service-system:auth-delegator"), RoleRef: theirs},
			&rbacv1.RoleBinding{ObjectMeta: meta("kube-system", "manager-service-auth-reader"), RoleRef: theirs},
			&rbacv1.Role{ObjectMeta: meta(ns, "manager-service-cert"), Rules: foreignRules},
			&rbacv1.RoleBinding{ObjectMeta: meta(ns, "manager-service-cert"), RoleRef: theirs},
		}},
	} {
		t.Run(test, func(t *testing.T) {
			k := newCluster(t, newGroup(tc.target), newNamespace("tenant"), newCRD("things.example.com", "v1"))
			k.create(tc.foreign...)
			for _, o := range tc.foreign { // as the cluster has them, with their times in seconds
				k.get(o.GetNamespace(), o.GetName(), o)
			}
			k.installed(csv.DeepCopy())
			for _, o := range tc.foreign {
				if !k.get(o.GetNamespace(), o.GetName()+"-"+ns, emptyLike(o)) {
					t.Errorf("the operator lacks %s %s", kindOf(o), o.GetName()+"-"+ns)
				}
			}
			k.rests("op.v1")
			k.delete(k.csv("op.v1"))
			k.pass("op.v1")
			for _, o := range tc.foreign {
				live := emptyLike(o)
				if !k.get(o.GetNamespace(), o.GetName(), live) {
					t.Errorf("%s %s is gone", kindOf(o), o.GetName())
				} else if diff := cmp.Diff(o, live); diff != "" {
					t.Errorf("%s %s (-before +after):\n%s", kindOf(o), o.GetName(), diff)
				}
			}
		})
	}
}

// TestBothNamesAreTaken: there is no third one, so the install reports what is in its way.
func TestBothNamesAreTaken(t *testing.T) {
	csv := newCSV("op.v1")
	name := permissionRole(t, csv).Name
	k := newCluster(t, newGroup(""))
	k.create(csv)
	k.create(permissions(t, csv)...)
	for _, n := range []string{name, name + "-" + ns} {
		k.create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: n}, Rules: foreignRules})
	}
	got := k.pass("op.v1")
	expect(t, got, toFailed, v1alpha1.CSVReasonComponentFailedNoRetry, "")
	for _, part := range []string{"ClusterRole /" + name, name + "-" + ns, "neither was made for an operator of namespace " + ns} {
		must.Contain(t, "message", got.Status.Message, part)
	}
}

// TestMadeByOthersIsTakenOver: another lifecycle manager gives the same names, and no mark.
func TestMadeByOthersIsTakenOver(t *testing.T) {
	csv := newCSV("op.v1", withWebhooks)
	lifted := bundle.LiftRole(permissionRole(t, csv))
	certificate, readsCertificate, delegation := servingAccess(csv, "manager")
	others := append(delegation, certificate, readsCertificate, lifted)
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	k.create(others...)
	k.installed(csv)
	for _, o := range others {
		live := emptyLike(o)
		if !k.get(o.GetNamespace(), o.GetName(), live) || len(live.GetAnnotations()) != 2 {
			t.Errorf("%s %s does not have the mark and the hash alone: %v", kindOf(o), o.GetName(), live.GetAnnotations())
		}
		if k.get(o.GetNamespace(), o.GetName()+"-"+ns, live) {
			t.Errorf("there is a second %s %s", kindOf(o), live.GetName())
		}
	}
}

// TestBindingOfABundleIsNotTakenForServingAccess: bundles of servers bring bindings to the same role.
func TestBindingOfABundleIsNotTakenForServingAccess(t *testing.T) {
	csv := newCSV("op.v1", withoutAccounts)
	name := "metrics-server:system:auth-delegator"
	k := newCluster(t, newGroup(""), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: bundle.OwnerLabels(csv)},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:auth-delegator"},
	})
	k.installed(csv)
	must.Equal(t, "the ClusterRoleBinding of the bundle was deleted", !k.get("", name, &rbacv1.ClusterRoleBinding{}), false)
}

func newNamespace(name string) client.Object {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// TestAnotherObjectOfTheNameIsNotDeleted: between reading and deleting, another client may have made another one.
func TestAnotherObjectOfTheNameIsNotDeleted(t *testing.T) {
	csv := newCSV("op.v1")
	seen := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "same", UID: "seen"}}
	k := newCluster(t, newGroup(""), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "same", UID: "another"}})
	if _, err := k.c.actor().apply(t.Context(), k.c.snapshot(csv), []change{{remove: seen, byManager: true}}, false); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a conflict", err)
	}
	must.Equal(t, "the other object is gone", !k.get("", "same", &rbacv1.ClusterRole{}), false)
}
