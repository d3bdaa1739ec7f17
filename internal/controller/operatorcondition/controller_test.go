package operatorcondition

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

const ns, name = "operators", "op.v1"

type cluster struct {
	*testing.T
	client.Client // of others
	*fakeapi.Server
	c *Controller
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	scheme := fakeapi.Scheme(appsv1.AddToScheme, rbacv1.AddToScheme, v1alpha1.AddToScheme, v2.AddToScheme)
	server := fakeapi.New(time.Now(), fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v2.OperatorCondition{}).WithReturnManagedFields())
	return &cluster{T: t, Client: server.Inner, Server: server, c: &Controller{client: server, live: server, events: server.Events}}
}

func (k *cluster) pass() error {
	_, err := k.c.Reconcile(k.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: ns, Name: name}})
	return err
}

// settle makes passes until nothing is written any more.
func (k *cluster) settle() {
	k.Helper()
	k.Server.Settle(k.T, k.pass)
}

func (k *cluster) read(into client.Object) bool {
	k.Helper()
	err := k.Get(k.Context(), client.ObjectKey{Namespace: ns, Name: name}, into)
	if client.IgnoreNotFound(err) != nil {
		k.Fatal(err)
	}
	return err == nil
}

func (k *cluster) condition() *v2.OperatorCondition {
	k.Helper()
	out := &v2.OperatorCondition{}
	if !k.read(out) {
		k.Fatal("there is no OperatorCondition")
	}
	return out
}

// update changes the OperatorCondition, as the cluster counts its generations.
func (k *cluster) update(change func(*v2.OperatorCondition)) {
	k.Helper()
	condition := k.condition()
	change(condition)
	condition.Generation++
	if err := k.Update(k.Context(), condition); err != nil {
		k.Fatal(err)
	}
}

func newCSV(edits ...func(*v1alpha1.ClusterServiceVersion)) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: "csv-uid"}}
	strategy := &csv.Spec.InstallStrategy.StrategySpec
	strategy.Permissions = []v1alpha1.StrategyDeploymentPermissions{{ServiceAccountName: "b"}, {ServiceAccountName: "a"}, {ServiceAccountName: ""}}
	strategy.ClusterPermissions = []v1alpha1.StrategyDeploymentPermissions{{ServiceAccountName: "c"}, {ServiceAccountName: "a"}}
	strategy.DeploymentSpecs = []v1alpha1.StrategyDeploymentSpec{{Name: "manager"}, {Name: "helper"}}
	for _, edit := range edits {
		edit(csv)
	}
	return csv
}

func upgradeable(status metav1.ConditionStatus) metav1.Condition {
	return metav1.Condition{Type: v2.ConditionUpgradeable, Status: status, Reason: "Migrating", Message: "a migration is going on", LastTransitionTime: metav1.NewTime(time.Unix(1893553445, 0))}
}

func TestOneForEachClusterServiceVersion(t *testing.T) {
	k := newCluster(t, newCSV())
	k.settle()
	condition := k.condition()
	must.Equal(t, "spec", condition.Spec, v2.OperatorConditionSpec{ServiceAccounts: []string{"c", "a", "b", "default"}, Deployments: []string{"manager", "helper"}})
	if owner := metav1.GetControllerOf(condition); owner == nil || owner.UID != "csv-uid" || owner.Kind != "ClusterServiceVersion" {
		t.Errorf("it belongs to %v", owner)
	}
	role, binding := &rbacv1.Role{}, &rbacv1.RoleBinding{}
	if !k.read(role) || !k.read(binding) {
		t.Fatal("its Role or its RoleBinding is not there")
	}
	rules := []rbacv1.PolicyRule{{Verbs: []string{"get", "update", "patch"}, APIGroups: []string{"operators.coreos.com"}, Resources: []string{"operatorconditions"}, ResourceNames: []string{name}}}
	must.Equal(t, "rules", role.Rules, rules)
	var subjects []string
	for _, s := range binding.Subjects {
		subjects = append(subjects, s.Kind+" "+s.Namespace+"/"+s.Name)
	}
	must.Equal(t, "subjects", strings.Join(subjects, ", "), "ServiceAccount operators/c, ServiceAccount operators/a, ServiceAccount operators/b, ServiceAccount operators/default")
	for _, o := range []client.Object{role, binding} {
		if _, lifts := o.GetLabels()[v1alpha1.OwnerLabel]; lifts || o.GetLabels()[v1alpha1.ManagedLabel] != "true" {
			t.Errorf("labels of %T: %v", o, o.GetLabels())
		}
	}
}

func TestWhatTheSpecSays(t *testing.T) {
	for what, tc := range map[string]struct {
		csv  *v1alpha1.ClusterServiceVersion
		want bool
	}{
		"no strategy": {newCSV(func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec = v1alpha1.ClusterServiceVersionSpec{} }), true},
		"a copy": {newCSV(func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Labels = map[string]string{v1alpha1.CopiedFromLabel: "x"}
		}), false},
		"on its way": {newCSV(func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Finalizers = []string{"x"}
			csv.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}), false},
		"of elsewhere": {newCSV(func(csv *v1alpha1.ClusterServiceVersion) { csv.Namespace = "elsewhere" }), false},
	} {
		t.Run(what, func(t *testing.T) {
			k := newCluster(t, tc.csv)
			k.settle()
			condition := &v2.OperatorCondition{}
			if got := k.read(condition); got != tc.want {
				t.Fatalf("an OperatorCondition is there: %v", got)
			}
			if tc.want && !slices.Equal(condition.Spec.ServiceAccounts, []string{"default"}) {
				t.Errorf("service accounts: %v", condition.Spec.ServiceAccounts)
			}
		})
	}
}

// TestReports are taken over with the generation that they are about, and what administrators and operators wrote stays as it is.
func TestReports(t *testing.T) {
	k := newCluster(t, newCSV())
	k.settle()
	k.update(func(c *v2.OperatorCondition) {
		c.Spec.Conditions = []metav1.Condition{upgradeable("False")}
		c.Spec.Overrides = []metav1.Condition{upgradeable("True")}
	})
	k.settle()
	condition := k.condition()
	want := upgradeable("False")
	want.ObservedGeneration = condition.Generation
	must.Equal(t, "status", condition.Status.Conditions, []metav1.Condition{want})
	if len(condition.Spec.Overrides) != 1 || len(condition.Spec.Conditions) != 1 {
		t.Errorf("spec: %+v", condition.Spec)
	}

	// A change of the CSV changes what the spec says of it, and nothing else.
	csv := &v1alpha1.ClusterServiceVersion{}
	k.read(csv)
	csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = nil
	must.NoError(t, k.Update(t.Context(), csv))
	k.settle()
	condition = k.condition()
	if len(condition.Spec.Deployments) != 0 || len(condition.Spec.Overrides) != 1 || len(condition.Spec.Conditions) != 1 {
		t.Errorf("spec: %+v", condition.Spec)
	}

	// What is no longer reported goes.
	k.update(func(c *v2.OperatorCondition) { c.Spec.Conditions = nil })
	k.settle()
	must.Empty(t, "conditions", k.condition().Status.Conditions)
}

// TestReportsInTheStatus of operators that write the older version of the API stay.
func TestReportsInTheStatus(t *testing.T) {
	k := newCluster(t, newCSV())
	k.settle()
	condition := k.condition()
	condition.Status.Conditions = []metav1.Condition{upgradeable("False")}
	must.NoError(t, k.Status().Update(t.Context(), condition, client.FieldOwner("operator")))
	k.settle()
	if got := k.condition().Status.Conditions; len(got) != 1 || got[0].Status != "False" {
		t.Errorf("the status says %v", got)
	}
}

// TestObjectsOfOthersStay: a Role of the same name that another client made is not taken over.
func TestObjectsOfOthersStay(t *testing.T) {
	foreign := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"pods"}}}}
	k := newCluster(t, newCSV(), foreign)
	k.settle()
	role := &rbacv1.Role{}
	if k.read(role); len(role.OwnerReferences) != 0 || role.Rules[0].Verbs[0] != "list" {
		t.Errorf("it was taken over: %+v", role)
	}
	must.Contain(t, "events", <-k.Events.Events, "Warning NameTaken the operator may not write its OperatorCondition: a Role of the name op.v1 exists already and belongs to another owner")
}

// TestTakenNamesAreLookedAtAgain: once the Role of another client is gone, as the Event asks for, the operator gets its own. Until then its
// accounts are not bound to it.
func TestTakenNamesAreLookedAtAgain(t *testing.T) {
	foreign := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	k := newCluster(t, newCSV(), foreign)
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(foreign)}
	result, err := k.c.Reconcile(t.Context(), request)
	if err != nil || result.RequeueAfter != lookAgain {
		t.Errorf("looked at again after %s, %v", result.RequeueAfter, err)
	}
	if binding := (&rbacv1.RoleBinding{}); k.read(binding) {
		t.Errorf("%v are bound to the Role of somebody else", binding.Subjects)
	}
	must.NoError(t, k.Delete(t.Context(), foreign))
	k.settle()
	if role := (&rbacv1.Role{}); !k.read(role) || len(role.OwnerReferences) != 1 || !k.read(&rbacv1.RoleBinding{}) {
		t.Error("the name is free, and the operator has no Role or RoleBinding")
	}
	if result, err := k.c.Reconcile(t.Context(), request); err != nil || result.RequeueAfter != 0 {
		t.Errorf("then looked at again after %s, %v", result.RequeueAfter, err)
	}
}

// TestManagedObjectsOfOthersStay: a Role that was made for something else has the label of what is managed too.
func TestManagedObjectsOfOthersStay(t *testing.T) {
	foreign := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"olm.managed": "true"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: "other.v1", UID: "other"}}},
		Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}}
	k := newCluster(t, newCSV(), foreign)
	k.settle()
	role := &rbacv1.Role{}
	if k.read(role); len(role.OwnerReferences) != 1 || role.Rules[0].Resources[0] != "pods" {
		t.Errorf("it was taken over: %+v", role)
	}
}

// TestHealing: what was edited or deleted comes back.
func TestHealing(t *testing.T) {
	k := newCluster(t, newCSV())
	k.settle()
	role, binding := &rbacv1.Role{}, &rbacv1.RoleBinding{}
	k.read(role)
	k.read(binding)
	role.Rules = nil
	must.NoError(t, errors.Join(k.Update(t.Context(), role), k.Delete(t.Context(), binding)))
	k.update(func(c *v2.OperatorCondition) { c.Spec.ServiceAccounts = []string{"evil"} })
	k.settle()
	k.read(role)
	if !k.read(binding) || len(role.Rules) != 1 || len(binding.Subjects) != 4 || k.condition().Spec.ServiceAccounts[0] != "c" {
		t.Errorf("not healed: %v, %v", role.Rules, binding.Subjects)
	}
}

// TestBindingToAnotherRole is replaced.
func TestBindingToAnotherRole(t *testing.T) {
	k := newCluster(t, newCSV())
	k.settle()
	binding := &rbacv1.RoleBinding{}
	k.read(binding)
	must.NoError(t, k.Delete(t.Context(), binding))
	binding.RoleRef.Name, binding.ResourceVersion = "other", ""
	must.NoError(t, k.Create(t.Context(), binding))
	k.settle()
	if k.read(binding); binding.RoleRef.Name != name {
		t.Errorf("it is still to %s", binding.RoleRef.Name)
	}
}

// TestConflictsAreQuiet and other failures are not.
func TestConflictsAreQuiet(t *testing.T) {
	k := newCluster(t, newCSV())
	var fail error = apierrors.NewConflict(schema.GroupResource{Resource: "operatorconditions"}, name, errors.New("changed"))
	k.Before = func(string) error { return fail }
	if err := k.pass(); err != nil {
		t.Errorf("a conflict is an error: %v", err)
	}
	fail = errors.New("no")
	if err := k.pass(); err == nil || !strings.Contains(err.Error(), "OperatorCondition operators/op.v1: no") {
		t.Errorf("a failure is %v", err)
	}
}
