package clusterserviceversion

import (
	"fmt"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// broughtBy annotates the CRD as an InstallPlan does that brings it with some CSVs.
func (w *world) broughtBy(namespace string, names ...string) {
	w.Helper()
	edit(w, w.crdName("things"), &apiextensionsv1.CustomResourceDefinition{}, func(crd *apiextensionsv1.CustomResourceDefinition) {
		if crd.Annotations == nil {
			crd.Annotations = map[string]string{}
		}
		for _, name := range names {
			crd.Annotations[bundle.InstalledAlongsideKey(namespace, name)] = namespace + "/" + name
		}
	})
}

// TestCRDOfAnOlderVersion: a CRD that only the replaced version brought is not the one that the new version is to run with.
func TestCRDOfAnOlderVersion(t *testing.T) {
	w := newWorld(t)
	w.makeCRD("v1")
	w.broughtBy(w.Namespace, "op.v1")
	w.install(w.operator("op.v1", w.owns("v1")))
	w.Succeeds("op.v1") // it was brought by the CSV itself

	w.install(w.operator("op.v2", w.owns("v1"), fixture.Replacing("op.v1")))
	w.waits("op.v2", "CustomResourceDefinition", w.crdName("things"), "PresentNotSatisfied", "CRD installed alongside other CSV(s): op.v1")
	w.broughtBy(w.Namespace, "op.v2")
	w.Succeeds("op.v2")
}

// TestCRDOfSomebodyElse: neither what a dependent operator needs nor what operators of other namespaces brought holds an install up.
func TestCRDOfSomebodyElse(t *testing.T) {
	sweep.Nightly(t, "TestCRDRows and TestRequiredCRDMayBeOld of internal/controller/clusterserviceversion with a fake API server")
	w := newWorld(t)
	w.makeCRD("v1")
	w.broughtBy(w.Namespace, "provider.v1")
	w.broughtBy("elsewhere", "op.v0")
	w.install(w.operator("dependent.v1", w.requires("v1"), withDeployments("dependent")))
	w.Succeeds("dependent.v1")
	w.install(w.operator("op.v1", w.owns("v1"), fixture.Replacing("op.v0")))
	w.Succeeds("op.v1")
}

// TestUnmetThenMet: what is missing is told by row and message, and the install goes on by itself once it is there.
func TestUnmetThenMet(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change  func(w *world) change
		kind    string
		row     func(w *world) string
		status  v1alpha1.StatusReason
		message string
		meet    func(w *world)
		byDay   string
	}{
		"the version of the cluster": {
			change: func(*world) change {
				return func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.MinKubeVersion = "99.0.0" }
			},
			kind: "ClusterServiceVersion", row: func(*world) string { return "op.v1" }, status: "PresentNotSatisfied",
			message: "CSV version requirement not met: minKubeVersion (99.0.0) > server version (1.36.3)",
			meet: func(w *world) {
				edit(w, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.MinKubeVersion = "1.20.0" })
			},
			byDay: "TestKubeVersion and TestKubeVersionRow of internal/controller/clusterserviceversion",
		},
		"an owned CRD": {
			change: func(w *world) change { return w.owns("v1") }, kind: "CustomResourceDefinition", row: thingsRow, status: "NotPresent", message: "CRD is not present",
			meet: func(w *world) { w.makeCRD("v1") }, byDay: "TestCRDRows of internal/controller/clusterserviceversion, and TestEventsTellTheWay",
		},
		"a required CRD": {
			change: func(w *world) change { return w.requires("v1") }, kind: "CustomResourceDefinition", row: thingsRow, status: "NotPresent", message: "CRD is not present",
			meet: func(w *world) { w.makeCRD("v1") },
		},
		"an APIService": {
			change: func(w *world) change {
				return func(csv *v1alpha1.ClusterServiceVersion) {
					csv.Spec.APIServiceDefinitions.Required = []v1alpha1.APIServiceDescription{{Name: "things", Group: w.group, Version: "v1", Kind: "Thing"}}
				}
			},
			kind: "APIService", row: func(w *world) string { return "v1." + w.group }, status: "NotPresent",
			meet: func(w *world) { w.makeCRD("v1") }, // the cluster registers an APIService for it
		},
		"a native API": {
			change: func(w *world) change {
				return func(csv *v1alpha1.ClusterServiceVersion) {
					csv.Spec.NativeAPIs = []metav1.GroupVersionKind{{Group: w.group, Version: "v1", Kind: "Thing"}}
				}
			},
			kind: "Thing", row: func(w *world) string { return "v1." + w.group }, status: "NotPresent", message: "the cluster does not serve this API",
			meet: func(w *world) { w.makeCRD("v1") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.byDay != "" {
				sweep.Nightly(t, tc.byDay)
			}
			w := newWorld(t)
			w.install(w.operator("op.v1", tc.change(w)))
			w.waits("op.v1", tc.kind, tc.row(w), tc.status, tc.message)
			tc.meet(w)
			csv := w.Succeeds("op.v1")
			if got := row(csv, tc.kind, tc.row(w)); got.Status != v1alpha1.RequirementStatusReasonPresent {
				t.Errorf("the row still says %s", got.Status)
			}
			w.stands("op.v1")
		})
	}
}

func thingsRow(w *world) string { return w.crdName("things") }

// stands checks that an operator that runs, runs on without anybody writing.
func (w *world) stands(name string) {
	w.Helper()
	before := w.Succeeds(name)
	deployment := w.deployment("manager")
	time.Sleep(calm)
	after := w.Succeeds(name)
	if before.ResourceVersion != after.ResourceVersion {
		w.Errorf("CSV %s was written: %s, then %s; history %v", name, before.ResourceVersion, after.ResourceVersion, harness.History(after))
	}
	if now := w.deployment("manager"); now.Generation != deployment.Generation {
		w.Errorf("the spec of the Deployment was written: generation %d, then %d", deployment.Generation, now.Generation)
	}
}

// TestPermissionsArrive one after the other, in roles of any kind and by way of groups; the first that is missing is named.
func TestPermissionsArrive(t *testing.T) {
	w := newWorldAlone(t)
	csv := w.operator("op.v1")
	w.Make(csv)
	w.waits("op.v1", "ServiceAccount", "account", "NotPresent", "Service account does not exist")
	w.Make(&corev1.ServiceAccount{ObjectMeta: w.Named("account")})
	w.waits("op.v1", "ServiceAccount", "account", "PresentNotSatisfied", "Service account lacks permissions")
	pending := w.Is("op.v1", v1alpha1.CSVPhasePending, v1alpha1.CSVReasonRequirementsNotMet)
	want := []v1alpha1.DependentStatus{
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "PolicyRule", Status: "NotSatisfied", Message: `namespaced rule:{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}`},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "PolicyRule", Status: "NotSatisfied", Message: `cluster rule:{"verbs":["get","list"],"apiGroups":[""],"resources":["nodes"]}`},
	}
	if got := row(pending, "ServiceAccount", "account").Dependents; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("dependents are\n%v, want\n%v", got, want)
	}

	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}, Rules: csv.Spec.InstallStrategy.StrategySpec.ClusterPermissions[0].Rules}
	members := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: w.Namespace},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:serviceaccounts:" + w.Namespace}}}
	w.RemoveLater(role)
	w.RemoveLater(members)
	w.Make(role, members,
		&rbacv1.Role{ObjectMeta: w.Named("pods"), Rules: csv.Spec.InstallStrategy.StrategySpec.Permissions[0].Rules},
		&rbacv1.RoleBinding{ObjectMeta: w.Named("pods"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "pods"},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: w.Namespace, Name: "account"}}})
	w.Succeeds("op.v1")

	// What is taken away later is told, and given back it is forgiven.
	w.Remove(&rbacv1.Role{ObjectMeta: w.Named("pods")})
	w.promptly("a permission that is taken away to be told", func() error {
		return w.Check(&v1alpha1.ClusterServiceVersion{}, "op.v1", v1alpha1.CSVPhasePending, v1alpha1.CSVReasonRequirementsNotMet)
	})
	w.Make(&rbacv1.Role{ObjectMeta: w.Named("pods"), Rules: csv.Spec.InstallStrategy.StrategySpec.Permissions[0].Rules})
	w.Succeeds("op.v1")
}

// TestAccountsOfOthers: one of somebody else can be used, one of another operator cannot.
func TestAccountsOfOthers(t *testing.T) {
	w := newWorld(t)
	owner := &corev1.ConfigMap{ObjectMeta: w.Named("owner")}
	w.Make(owner)
	account := &corev1.ServiceAccount{ObjectMeta: w.Named("account")}
	account.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}}
	w.Make(account)
	csv := w.operator("op.v1")
	w.Make(csv)
	w.Make(w.permissions(csv)...)
	w.Succeeds("op.v1")

	second := w.operator("second.v1", withDeployments("second"))
	w.Make(second)
	edit(w, "account", &corev1.ServiceAccount{}, func(a *corev1.ServiceAccount) {
		a.OwnerReferences = []metav1.OwnerReference{bundle.OwnerReference(csv)}
	})
	w.waits("second.v1", "ServiceAccount", "account", "PresentNotSatisfied", "Service account is owned by another ClusterServiceVersion")
}

// TestTwoOperatorsOwnOneCRD: the second is refused with the name of the first, and is installed once that is gone.
func TestTwoOperatorsOwnOneCRD(t *testing.T) {
	w := newWorld(t)
	w.makeCRD("v1")
	first := w.operator("first.v1", w.owns("v1"), withoutPermissions)
	w.install(first)
	w.Succeeds("first.v1")
	w.install(w.operator("second.v1", w.owns("v1"), withDeployments("second"), withoutPermissions))
	csv := w.Is("second.v1", v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonOwnerConflict)
	want := "conflicting CRD owner in namespace: ClusterServiceVersion first.v1 owns CRD " + w.crdName("things") + " too; delete one of the two, or let one replace the other"
	must.Equal(t, "message", csv.Status.Message, want)
	w.Remove(first)
	w.Succeeds("second.v1")
}
