package clusterserviceversion

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// TestLabelledRolesArePromoted: with AllNamespaces, a Role and a RoleBinding with the owner labels of the operator become cluster-wide whatever their names,
// for the accounts of the operator alone, and only while the group asks for it and has no account.
func TestLabelledRolesArePromoted(t *testing.T) {
	csv := newCSV("op.v1")
	gathering := bundle.OwnerLabels(csv)
	gathering["rbac.authorization.k8s.io/aggregate-to-admin"] = "true"
	account := rbacv1.Subject{Kind: "ServiceAccount", Namespace: ns, Name: "account"}
	eve := rbacv1.Subject{Kind: "User", Name: "eve", APIGroup: rbacv1.GroupName}
	elsewhere := rbacv1.Subject{Kind: "ServiceAccount", Namespace: "elsewhere", Name: "account"}
	k := newCluster(t, promoting(),
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "mine", Labels: gathering}, Rules: foreignRules},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "binds", Labels: gathering},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "mine"}, Subjects: []rbacv1.Subject{account, eve, elsewhere}},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "admin", Labels: gathering},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "cluster-admin"}, Subjects: []rbacv1.Subject{account}},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "eves", Labels: gathering},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "mine"}, Subjects: []rbacv1.Subject{eve}})
	k.installed(csv.DeepCopy())
	role, binding := &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}
	if !k.get("", "mine", role) || !k.get("", "binds", binding) {
		t.Fatalf("they are not promoted: %v", k.clusterRoles())
	}
	namespaces := rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"namespaces"}}
	must.Equal(t, "rules", role.Rules, []rbacv1.PolicyRule{foreignRules[0], namespaces})
	must.Equal(t, "labels", role.Labels, bundle.OwnerLabels(csv))
	if diff := cmp.Diff([]rbacv1.Subject{account}, binding.Subjects); diff != "" || binding.RoleRef.Name != "mine" || binding.RoleRef.Kind != "ClusterRole" {
		t.Errorf("role %v, subjects (-want +got):\n%s", binding.RoleRef, diff)
	}
	for _, name := range []string{"admin", "eves"} {
		if k.get("", name, &rbacv1.ClusterRoleBinding{}) {
			t.Errorf("RoleBinding %s is promoted", name)
		}
	}
	k.wrote()
	if k.pass("op.v1"); k.wrote() != nil {
		t.Error("a pass without a change writes")
	}
	edit(k, ns, "mine", &rbacv1.Role{}, func(r *rbacv1.Role) { r.Rules[0].Verbs = []string{"list"} })
	k.pass("op.v1")
	if k.get("", "mine", role); role.Rules[0].Verbs[0] != "list" {
		t.Errorf("a change of the Role is not followed: %v", role.Rules)
	}
	edit(k, ns, "mine", &rbacv1.Role{}, func(r *rbacv1.Role) { r.Labels = nil })
	k.pass("op.v1")
	if k.get("", "mine", role) || k.get("", "binds", binding) {
		t.Error("they remain although the Role has lost its labels")
	}
	edit(k, ns, "mine", &rbacv1.Role{}, func(r *rbacv1.Role) { r.Labels = gathering })
	k.pass("op.v1")
	must.Equal(t, "it is not promoted again with its labels", !k.get("", "mine", role), false)
	edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { delete(g.Annotations, v1alpha1.PromoteRolesAnnotation) })
	k.pass("op.v1")
	if k.get("", "mine", role) || k.get("", "binds", binding) {
		t.Error("they remain although the group does not ask for it any more")
	}
}

// promoting is a group of all namespaces that asks for the promotion of labelled Roles.
func promoting() *v1.OperatorGroup {
	g := newGroup("")
	g.Annotations = map[string]string{v1alpha1.PromoteRolesAnnotation: "true"}
	return g
}

// TestAGroupWithAnAccountPromotesNothing: its namespace must not get more than the account has.
func TestAGroupWithAnAccountPromotesNothing(t *testing.T) {
	csv := newCSV("op.v1")
	k := newCluster(t, promoting(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "mine", Labels: bundle.OwnerLabels(csv)}, Rules: foreignRules})
	k.installed(csv.DeepCopy())
	if !k.get("", "mine", &rbacv1.ClusterRole{}) {
		t.Fatal("without an account it is promoted")
	}
	edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Spec.ServiceAccountName = "installer" })
	o := k.c.snapshot(k.csv("op.v1")).observer
	owned := must.Value(o.ownedObjects(t.Context(), true, roleLists()...))(t)
	groups := must.Value(o.membership(t.Context()))(t)
	if promoted, err := (rights{o, groups}).promoted(t.Context(), nil, owned, map[string]string{}); err != nil || len(promoted) > 0 {
		t.Errorf("promoted %v, %v", promoted, err)
	}
}
