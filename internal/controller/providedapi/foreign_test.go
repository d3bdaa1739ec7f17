package providedapi

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// ofCluster is a role that another owner made.
func ofCluster(name string, edit func(*rbacv1.ClusterRole)) *rbacv1.ClusterRole {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "foreign", Labels: map[string]string{"mine": "stays"}},
		Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}}
	if edit != nil {
		edit(role)
	}
	return role
}

func gathers(role *rbacv1.ClusterRole) {
	role.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{}}}
}

// ofDefinitionNamed gives a role a definition as its owner.
func ofDefinitionNamed(kind, name string) func(*rbacv1.ClusterRole) {
	return func(role *rbacv1.ClusterRole) {
		role.OwnerReferences = []metav1.OwnerReference{{APIVersion: "x/v1", Kind: kind, Name: name, UID: "u"}}
	}
}

// TestRolesOfOthersAreNotWritten: an operator names its API so that a role of it would be the cluster's own, or a role of the name exists before the API
// does. It stays as it is, which is reported, and is written when the name is free.
func TestRolesOfOthersAreNotWritten(t *testing.T) {
	aggregate := func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Owned = nil
		csv.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "aggregate", Group: "a.io", Version: "olm", Kind: "Goose"}}
	}
	opened := bare(etcd, func(c *apiextensionsv1.CustomResourceDefinition) { c.Annotations[v1alpha1.AdoptableByAnnotation] = "a" })
	owned := func(edits ...func(*rbacv1.ClusterRole)) func(*rbacv1.ClusterRole) {
		return func(role *rbacv1.ClusterRole) {
			for _, edit := range edits {
				edit(role)
			}
		}
	}
	for name, test := range map[string]struct {
		kind, definition string
		role             *rbacv1.ClusterRole
		with             []client.Object
	}{
		"of the cluster":               {kindAPIService, "olm.a.io", ofCluster("aggregate-olm-edit", nil), []client.Object{service("olm.a.io"), operator("a", 1, aggregate)}},
		"beside a CRD":                 {kindCRD, etcd, ofCluster(etcd+"-v1beta2-admin", nil), []client.Object{crd(), operator("a", 1, nil)}},
		"that gathers rules":           {kindCRD, etcd, ofCluster(etcd+"-v1beta2-admin", owned(gathers, ofDefinitionNamed(kindCRD, etcd))), []client.Object{crd(), operator("a", 1, nil)}},
		"of the manager":               {kindCRD, etcd, ofCluster(managerRolePrefix+etcd, nil), []client.Object{opened}},
		"of the manager, owned":        {kindCRD, etcd, ofCluster(managerRolePrefix+etcd, ofDefinitionNamed(kindCRD, etcd)), []client.Object{opened.DeepCopy()}},
		"of the manager, that gathers": {kindCRD, etcd, ofCluster(managerRolePrefix+etcd, gathers), []client.Object{opened.DeepCopy()}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, append(test.with, test.role)...)
			k.managerRoles = true
			before := &rbacv1.ClusterRole{}
			k.get("", test.role.Name, before)
			c := k.controller()
			for range 2 {
				must.Value(c.Reconcile(t.Context(), request(test.kind, test.definition)))(t)
			}
			after := k.roles()[test.role.Name]
			must.Equal(t, "it is written", after.ResourceVersion+after.Labels["mine"], before.ResourceVersion+before.Labels["mine"])
			must.Equal(t, "Events", strings.Count(k.all(), "ClusterRole "+test.role.Name+" is needed for "+test.kind+" "+test.definition), 1)
			k.delete(&after)
			must.Equal(t, "requests of its end", text(c.ofSquat(t.Context(), &after)), text([]reconcile.Request{request(test.kind, test.definition)}))
			must.Value(c.Reconcile(t.Context(), request(test.kind, test.definition)))(t)
			if made := k.roles()[test.role.Name]; len(made.OwnerReferences) != 1 || c.ofSquat(t.Context(), &made) != nil {
				t.Errorf("when the name is free: %+v", made)
			}
		})
	}
}

// TestRoleThatGathersLosesTheManagersLabel, which an earlier version of the manager gave it, and is written no more.
func TestRoleThatGathersLosesTheManagersLabel(t *testing.T) {
	k := newCluster(t, bare(etcd, func(c *apiextensionsv1.CustomResourceDefinition) { c.Annotations[v1alpha1.AdoptableByAnnotation] = "a" }))
	k.managerRoles = true
	role := k.pass(kindCRD, etcd)[managerRolePrefix+etcd]
	gathers(&role)
	k.update(&role)
	if role = k.pass(kindCRD, etcd)[role.Name]; role.Labels[v1alpha1.ManagerAggregationLabel] != "" || role.AggregationRule == nil {
		t.Errorf("it is %+v", role)
	}
	k.Taken()
	k.pass(kindCRD, etcd)
	must.Empty(t, "more writes", k.Taken())
}
