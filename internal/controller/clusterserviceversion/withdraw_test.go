package clusterserviceversion

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// TestNarrowedGroupTakesLiftedPermissions even from an operator that does not support the new targets.
func TestNarrowedGroupTakesLiftedPermissions(t *testing.T) {
	k := newCluster(t, newGroup(""))
	csv := newCSV("op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallModes = []v1alpha1.InstallMode{{Type: "AllNamespaces", Supported: true}}
	})
	k.installed(csv)
	k.retarget(ns)
	expect(t, k.pass("op.v1"), toFailed, v1alpha1.CSVReasonUnsupportedOperatorGroup, "")
	k.pass("op.v1")
	name := permissionRole(t, csv).Name
	if k.get("", name, &rbacv1.ClusterRole{}) || k.get("", name, &rbacv1.ClusterRoleBinding{}) {
		t.Errorf("the group targets %s only, and %s is bound in the whole cluster still", ns, name)
	}
	k.rests("op.v1")
}

// TestCopiesGoWithTheTarget while the operator waits for its group, and with the group.
func TestCopiesGoWithTheTarget(t *testing.T) {
	k := newCluster(t, newGroup("tenant", "third"), newNamespace("tenant"), newNamespace("third"))
	csv := newCSV("op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallModes = []v1alpha1.InstallMode{{Type: "MultiNamespace", Supported: true}, {Type: "SingleNamespace", Supported: false}}
	})
	k.installed(csv)
	name := permissionRole(t, csv).Name
	has := func(namespace string) bool {
		return k.get(namespace, name, &rbacv1.Role{}) || k.get(namespace, name, &rbacv1.RoleBinding{})
	}
	k.retarget("third")
	k.pass("op.v1")
	expect(t, k.pass("op.v1"), toFailed, v1alpha1.CSVReasonUnsupportedOperatorGroup, "")
	if has("tenant") || !has("third") {
		t.Errorf("permissions in the former target: %v, in the target: %v", has("tenant"), has("third"))
	}
	second := newGroup("third")
	second.Name = "second"
	k.create(second)
	k.pass("op.v1")
	if k.pass("op.v1"); !has("third") {
		t.Error("permissions were taken away although it is not known which of two groups holds")
	}
	k.delete(second)
	k.delete(&v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "group"}})
	k.pass("op.v1")
	if k.pass("op.v1"); has("third") {
		t.Error("permissions are left without any group")
	}
	must.Equal(t, "the permissions in the namespace of the operator are gone", !has(ns), false)
}
