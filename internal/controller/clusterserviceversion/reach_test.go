package clusterserviceversion

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// permissionRole is the Role that newCSV asks for, as the InstallPlan makes it.
func permissionRole(t *testing.T, csv *v1alpha1.ClusterServiceVersion) *rbacv1.Role {
	t.Helper()
	accounts := must.Value(bundle.RBAC(csv))(t)
	return accounts[0].Roles[0]
}

// retarget gives the group other target namespaces.
func (k *cluster) retarget(targets ...string) {
	k.t.Helper()
	edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Status.Namespaces = targets })
}

func TestPermissionsAreLiftedAndKeptUpToDate(t *testing.T) {
	k := newCluster(t, newGroup(""))
	csv := newCSV("op.v1")
	k.installed(csv)
	role := permissionRole(t, csv)
	lifted := &rbacv1.ClusterRole{}
	if !k.get("", role.Name, lifted) {
		t.Fatal("the ClusterRole is missing")
	}
	namespaces := rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"namespaces"}}
	must.Equal(t, "lifted rules", lifted.Rules, append(slices.Clone(role.Rules), namespaces))
	must.Equal(t, "labels", lifted.Labels, role.Labels)
	binding := &rbacv1.ClusterRoleBinding{}
	if !k.get("", role.Name, binding) || binding.RoleRef.Kind != "ClusterRole" || binding.Subjects[0].Name != "account" {
		t.Errorf("ClusterRoleBinding: %+v", binding)
	}

	// Who may edit the Role does not get leave for other namespaces.
	edit(k, ns, role.Name, &rbacv1.Role{}, func(r *rbacv1.Role) { r.Rules[0].Verbs = append(r.Rules[0].Verbs, "watch") })
	k.pass("op.v1")
	k.get("", role.Name, lifted)
	if slices.Contains(lifted.Rules[0].Verbs, "watch") {
		t.Errorf("an edit of the Role was lifted: %v", lifted.Rules)
	}
	edit(k, "", role.Name, &rbacv1.ClusterRole{}, func(r *rbacv1.ClusterRole) { r.Rules = nil })
	k.pass("op.v1")
	k.get("", role.Name, lifted)
	must.Equal(t, "lifted rules after an edit of the ClusterRole", lifted.Rules, append(slices.Clone(role.Rules), namespaces))
	k.rests("op.v1")

	k.retarget(ns)
	k.pass("op.v1")
	if k.get("", role.Name, lifted) || k.get("", role.Name, binding) {
		t.Error("permissions for all namespaces remain although the group targets one")
	}
	if cluster := (&rbacv1.ClusterRoleList{}); k.client.List(t.Context(), cluster) != nil || len(cluster.Items) != 1 {
		t.Errorf("the ClusterRole that the operator asked for has to stay: %v", cluster.Items)
	}
}

// TestAskedForClusterRolesAreNotOverwritten: a bundle may bring a ClusterRole that has the name of a Role.
func TestAskedForClusterRolesAreNotOverwritten(t *testing.T) {
	csv := newCSV("op.v1")
	name := permissionRole(t, csv).Name
	rules := []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{"x"}, Resources: []string{"y"}}}
	k := newCluster(t, newGroup(""), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: bundle.OwnerLabels(csv)}, Rules: rules})
	k.installed(csv)
	role := &rbacv1.ClusterRole{}
	k.get("", name, role)
	must.Equal(t, "rules", role.Rules, rules)
	must.Equal(t, "the permission of the operator was not lifted", !k.get("", name+"-"+ns, role), false)
}

// TestTheSameOperatorInTwoNamespaces: the documented names of what it has outside of its namespaces do not tell these
// apart, so the second gets names of its own, and neither takes anything from the other.
func TestTheSameOperatorInTwoNamespaces(t *testing.T) {
	webhook := func(csv *v1alpha1.ClusterServiceVersion) {
		withWebhooks(csv)
		csv.Spec.WebhookDefinitions = csv.Spec.WebhookDefinitions[:1]
		csv.Spec.CustomResourceDefinitions.Owned = nil // groups that reach the same namespaces may not provide the same API
	}
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	k.installed(newCSV("op.v1", webhook))
	other := newGroup("")
	other.Namespace = "other"
	second := newCSV("op.v1", webhook)
	second.Namespace, second.UID = "other", "second"
	k.create(other, second)
	k.create(permissions(t, second)...)
	there := func() {
		t.Helper()
		must.Value(k.c.Reconcile(t.Context(), reconcile.Request{NamespacedName: key("other", "op.v1")}))(t)
	}
	for range 2 {
		there()
		k.rollOutIn("other")
	}
	there()
	k.wrote()
	there()
	k.pass("op.v1")
	must.Empty(t, "writes of two that would fight", k.wrote())
	role := permissionRole(t, second).Name
	for name, want := range map[string]string{role: ns, role + "-other": "other", "manager-service-system:auth-delegator": ns, "manager-service-system:auth-delegator-other": "other"} {
		binding := &rbacv1.ClusterRoleBinding{}
		if !k.get("", name, binding) || binding.Subjects[0].Namespace != want {
			t.Errorf("ClusterRoleBinding %s is for %v, want %s", name, binding.Subjects, want)
		}
		if want == "other" && strings.HasPrefix(name, role) && binding.RoleRef.Name != name {
			t.Errorf("ClusterRoleBinding %s is to %s", name, binding.RoleRef.Name)
		}
	}
	for name, want := range map[string]string{"manager-service-auth-reader": ns, "manager-service-auth-reader-other": "other"} {
		binding := &rbacv1.RoleBinding{}
		if !k.get("kube-system", name, binding) || binding.Subjects[0].Namespace != want {
			t.Errorf("RoleBinding %s is for %v, want %s", name, binding.Subjects, want)
		}
	}
}

func TestPermissionsAreCopiedToTargets(t *testing.T) {
	namespace := func(name string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	going := namespace("going")
	going.Finalizers, going.DeletionTimestamp = []string{"kubernetes"}, &metav1.Time{Time: metav1.Now().Time}
	k := newCluster(t, newGroup(ns, "one", "two", "going", "missing"), namespace(ns), namespace("one"), namespace("two"), namespace("three"), going)
	csv := newCSV("op.v1")
	k.installed(csv)
	role := permissionRole(t, csv)
	where := func() []string {
		t.Helper()
		var roles rbacv1.RoleList
		var bindings rbacv1.RoleBindingList
		must.NoError(t, k.client.List(t.Context(), &roles))
		must.NoError(t, k.client.List(t.Context(), &bindings))
		var in, bound []string
		for _, r := range roles.Items {
			in = append(in, r.Namespace)
			if r.Namespace != ns && (cmp.Diff(role.Rules, r.Rules) != "" || r.Labels["olm.copiedFrom"] != ns || r.Labels["olm.managed"] != "true" || !ownedBy(&r, csv)) {
				t.Errorf("copy in %s: %+v", r.Namespace, r)
			}
		}
		for _, b := range bindings.Items {
			bound = append(bound, b.Namespace)
		}
		must.Equal(t, "namespaces of bindings and of roles", bound, in)
		return in
	}
	must.Equal(t, "roles are in", where(), []string{"one", ns, "two"})
	k.rests("op.v1")

	edit(k, "one", role.Name, &rbacv1.Role{}, func(r *rbacv1.Role) { r.Rules = nil })
	k.create(namespace("missing"))
	k.retarget(ns, "one", "three", "missing")
	k.pass("op.v1")
	must.Equal(t, "after a change of targets, roles are in", where(), []string{"missing", "one", ns, "three"})

	k.delete(k.csv("op.v1"))
	k.pass("op.v1")
	must.Equal(t, "after the deletion of the CSV, roles are in", where(), []string{ns})
}

// TestCopiesGiveWay: the target namespace may run the same operator itself.
func TestCopiesGiveWay(t *testing.T) {
	there := newCSV("op.v1")
	there.Namespace = "one"
	objects := permissions(t, there)
	k := newCluster(t, newGroup("one", "two"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "one"}})
	for _, o := range objects {
		if o.GetNamespace() == "one" {
			k.create(o)
		}
	}
	csv := newCSV("op.v1")
	k.installed(csv)
	name := permissionRole(t, csv).Name
	theirs, ours := &rbacv1.RoleBinding{}, &rbacv1.RoleBinding{}
	if !k.get("one", name, theirs) || theirs.Subjects[0].Namespace != "one" {
		t.Errorf("the binding of the operator there: %+v", theirs)
	}
	if !k.get("one", name+"-operators", ours) || ours.Subjects[0].Namespace != ns || ours.RoleRef.Name != name+"-operators" {
		t.Errorf("the copied binding: %+v", ours)
	}
}

// TestBindingToAnotherRoleIsReplaced: what a binding refers to cannot be changed.
func TestBindingToAnotherRoleIsReplaced(t *testing.T) {
	k := newCluster(t, newGroup(""))
	csv := newCSV("op.v1")
	k.installed(csv)
	name := permissionRole(t, csv).Name
	wrong := &rbacv1.ClusterRoleBinding{}
	k.get("", name, wrong)
	k.delete(wrong)
	wrong.ResourceVersion, wrong.RoleRef.Name = "", "other"
	k.create(wrong)
	k.wrote()
	k.pass("op.v1")
	must.Equal(t, "writes", k.wrote(), []string{"delete ClusterRoleBinding " + name, "create ClusterRoleBinding " + name})
	if k.get("", name, wrong); wrong.RoleRef.Name != name {
		t.Errorf("the binding is to %s", wrong.RoleRef.Name)
	}
}
