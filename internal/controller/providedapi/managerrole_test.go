package providedapi

import (
	"errors"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// bare is a CRD that no InstallPlan brought.
func bare(name string, edit func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
	c := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "crd", Labels: map[string]string{}, Annotations: map[string]string{}}}
	c.Spec.Group, c.Spec.Names.Plural = "etcd.database.coreos.com", "etcdclusters"
	if edit != nil {
		edit(c)
	}
	return c
}

// TestManagerRole: a manager without a rule for every resource has a role for the custom resources of each CRD that it manages, whatever its operators may
// open to users; no user has a part in it.
func TestManagerRole(t *testing.T) {
	brought := func(c *apiextensionsv1.CustomResourceDefinition) { c.Annotations = crd().Annotations }
	annotated := func(key, value string) func(*apiextensionsv1.CustomResourceDefinition) {
		return func(c *apiextensionsv1.CustomResourceDefinition) { c.Annotations[key] = value }
	}
	labelled := func(key, value string) func(*apiextensionsv1.CustomResourceDefinition) {
		return func(c *apiextensionsv1.CustomResourceDefinition) { c.Labels[key] = value }
	}
	confined := []client.Object{group("a", "installer"), operator("a", 1, nil)}
	for name, test := range map[string]struct {
		crd  *apiextensionsv1.CustomResourceDefinition
		with []client.Object
		want bool
	}{
		"brought, for a confined operator": {bare(etcd, brought), confined, true},
		"brought, before its operator":     {bare(etcd, brought), nil, true},
		"its operators are gone":           {bare(etcd, annotated(v1alpha1.OriginAnnotation, "InstallPlan/a")), nil, true},
		"written by earlier versions":      {bare(etcd, labelled(v1alpha1.ManagedLabel, "true")), nil, true},
		"to be adopted":                    {bare(etcd, annotated(v1alpha1.AdoptableByAnnotation, "a")), nil, true},
		"opened by an administrator":       {bare(etcd, labelled(v1alpha1.ProvidedRolesLabel, "true")), nil, true},
		"only listed by an operator":       {bare(etcd, nil), confined, false},
		"of the lifecycle groups":          {bare("operatorgroups.operators.coreos.com", brought), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, append(test.with, test.crd)...)
			k.managerRoles = true
			role, ok := k.pass(kindCRD, test.crd.Name)[managerRolePrefix+test.crd.Name]
			if ok != test.want {
				t.Fatalf("the role exists: %t; all: %s", ok, names(k.roles()))
			}
			if !ok {
				return
			}
			rules := []rbacv1.PolicyRule{{Verbs: []string{"get", "list", "patch", "delete"}, APIGroups: []string{"etcd.database.coreos.com"}, Resources: []string{"etcdclusters"}}}
			must.Equal(t, "rules", role.Rules, rules)
			must.Equal(t, "labels, which give no user the rights", role.Labels, map[string]string{"operators.fairlead.dev/aggregate-to-manager": "true"})
			if r := role.OwnerReferences; len(r) != 1 || r[0].Kind != kindCRD || r[0].UID != "crd" {
				t.Errorf("owners %+v", r)
			}
			k.Taken()
			k.pass(kindCRD, test.crd.Name)
			must.Empty(t, "writes though nothing has changed", k.Taken())
		})
	}
}

// TestManagerRoleIsCorrected, is written only where it is needed, and goes when the CRD is none of the manager's any more.
func TestManagerRoleIsCorrected(t *testing.T) {
	name := managerRolePrefix + etcd
	k := newCluster(t, bare(etcd, func(c *apiextensionsv1.CustomResourceDefinition) { c.Annotations[v1alpha1.AdoptableByAnnotation] = "a" }))
	must.Empty(t, "rules of a manager with a rule for every resource", k.pass(kindCRD, etcd))
	k.managerRoles = true
	role := k.pass(kindCRD, etcd)[name]
	role.Rules[0].Resources, role.Labels = []string{"*"}, nil
	k.update(&role)
	if role = k.pass(kindCRD, etcd)[name]; role.Rules[0].Resources[0] != "etcdclusters" || role.Labels[v1alpha1.ManagerAggregationLabel] != "true" {
		t.Errorf("it stays changed: %+v", role)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	k.get("", etcd, definition)
	before := definition.DeepCopy()
	definition.Annotations = nil
	k.update(definition)
	if !saysElse.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: definition}) {
		t.Error("the change wakes nothing up")
	}
	must.Empty(t, "rules", k.pass(kindCRD, etcd))
}

// TestManagerRoleAndThoseOfUsers: one that cannot be written keeps none of the others.
func TestManagerRoleAndThoseOfUsers(t *testing.T) {
	k := newCluster(t, crd(), operator("a", 1, nil))
	k.managerRoles = true
	k.Before = func(write string) error {
		if write == "apply ClusterRole "+managerRolePrefix+etcd {
			return errors.New("refused")
		}
		return nil
	}
	if err := k.try(kindCRD, etcd); err == nil || len(k.roles()) != 4 {
		t.Errorf("roles %s, error %v", names(k.roles()), err)
	}
	k.Before = nil
	if roles := k.pass(kindCRD, etcd); len(roles) != 5 {
		t.Errorf("roles %s", names(roles))
	}
}
