package operator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID(name)}
}

// installed is an operator of one object of each kind that components have.
func installed() []client.Object {
	return []client.Object{
		subscription("etcd.v1", "plan-2"), newCSV("etcd.v1", "etcds.example.com", "missing.example.com"), plan("plan-2"), crd("etcds.example.com"),
		ownedBy("etcd.v1", deployment("manager")),
		ownedBy("etcd.v1", &corev1.Service{ObjectMeta: named("service")}),
		ownedBy("etcd.v1", &corev1.Secret{ObjectMeta: named("secret")}),
		ownedBy("etcd.v1", &corev1.ConfigMap{ObjectMeta: named("settings")}),
		ownedBy("etcd.v1", &corev1.ServiceAccount{ObjectMeta: named("account")}),
		ownedBy("etcd.v1", &rbacv1.Role{ObjectMeta: named("role")}),
		ownedBy("etcd.v1", &rbacv1.RoleBinding{ObjectMeta: named("binding")}),
		ownedBy("etcd.v1", &v2.OperatorCondition{ObjectMeta: named("etcd.v1")}),
		ownerLabels("etcd.v1", &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "target", Name: "copied"}}),
		ownerLabels("etcd.v1", &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "clusterrole"}}),
		ownerLabels("etcd.v1", &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "clusterbinding"}}),
		ownerLabels("etcd.v1", &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.example.com"}}),
		ownerLabels("etcd.v1", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "made"}}),
	}
}

// TestAnOperatorIsAdopted with everything that belongs to it, and nothing else; then nothing is written any more.
func TestAnOperatorIsAdopted(t *testing.T) {
	earlier := ownedBy("etcd.v1", deployment("earlier"))
	earlier.OwnerReferences[0].UID = "another"
	foreign := ownedBy("etcd.v1", deployment("foreign"))
	foreign.Namespace = "elsewhere"
	others := ownedBy("etcd.v1", deployment("others"))
	others.OwnerReferences[0].APIVersion = "example.com/v1"
	k := newCluster(t, append(installed(), earlier, foreign, others, deployment("unowned"), newCSV("unsubscribed"), crd("unowned.example.com"), plan("of-others"))...)
	writes := k.settle(name)
	want := []string{
		"APIService /v1.example.com", "ClusterRole /clusterrole", "ClusterRoleBinding /clusterbinding", "ClusterServiceVersion operators/etcd.v1",
		"ConfigMap operators/settings", "CustomResourceDefinition /etcds.example.com", "Deployment operators/manager", "InstallPlan operators/plan-2",
		"Namespace /made", "OperatorCondition operators/etcd.v1", "Role operators/role", "Role target/copied", "RoleBinding operators/binding",
		"Secret operators/secret", "Service operators/service", "ServiceAccount operators/account", "Subscription operators/sub",
	}
	must.Equal(t, "components", k.refs(name), want)
	if len(writes) != len(want)+2 || writes[len(writes)-2] != "create Operator "+name || writes[len(writes)-1] != "patch status Operator "+name {
		t.Errorf("want a write for each component and two for the Operator, got %q", writes)
	}
	selector := k.operator(name).Status.Components.LabelSelector
	must.Equal(t, "selector", selector, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: "Exists"}}})
}

// TestALostLabelComesBack, and the Operator too.
func TestALostLabelComesBack(t *testing.T) {
	k := newCluster(t, installed()...)
	k.settle(name)
	want := k.refs(name)
	edit(k, ns, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Labels = nil })
	must.Equal(t, "writes", k.settle(name), []string{"patch Deployment manager"})
	must.NoError(t, k.client.Delete(t.Context(), k.operator(name)))
	k.settle(name)
	must.Equal(t, "components after the Operator was deleted", k.refs(name), want)
}

// TestPlansThatAreHistory are no components, those of others stay theirs.
func TestPlansThatAreHistory(t *testing.T) {
	const other = "operators.coreos.com/other.operators"
	k := newCluster(t, append(installed(), with(plan("plan-1"), key, other))...)
	k.settle(name)
	old := &v1alpha1.InstallPlan{}
	must.NoError(t, k.client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "plan-1"}, old))
	must.Equal(t, "labels of the old plan", old.Labels, map[string]string{other: ""})
	if refs := k.refs(name); slices.Contains(refs, "InstallPlan operators/plan-1") || !slices.Contains(refs, "InstallPlan operators/plan-2") {
		t.Errorf("components are %v", refs)
	}
}

// TestCopiesAreNoComponents, though they have the label.
func TestCopiesAreNoComponents(t *testing.T) {
	copied := with(newCSV("etcd.v1"), key, "olm.copiedFrom")
	copied.Namespace = "target"
	mine := ownedBy("etcd.v1", deployment("in-target"))
	mine.Namespace = "target"
	k := newCluster(t, append(installed(), copied, mine)...)
	k.settle(name)
	for _, ref := range k.refs(name) {
		if strings.Contains(ref, "target/etcd.v1") || strings.Contains(ref, "in-target") {
			t.Errorf("%s is a component", ref)
		}
	}
}

// TestAnOperatorWithoutSubscription keeps its components and gets further ones; with the last component it goes.
func TestAnOperatorWithoutSubscription(t *testing.T) {
	k := newCluster(t, with(newCSV("etcd.v1"), key), ownedBy("etcd.v1", deployment("manager")))
	k.settle(name)
	must.Equal(t, "components", k.refs(name), []string{"ClusterServiceVersion operators/etcd.v1", "Deployment operators/manager"})
	for _, o := range []client.Object{newCSV("etcd.v1"), deployment("manager")} {
		must.NoError(t, k.client.Delete(t.Context(), o))
	}
	if diff := cmp.Diff([]string{"delete Operator " + name}, k.settle(name)); diff != "" || k.operator(name) != nil {
		t.Errorf("it is %v, writes:\n%s", k.operator(name), diff)
	}
	if writes := k.settle(name); writes != nil || k.operator(name) != nil {
		t.Errorf("without components it was made again: %v", writes)
	}
	must.NoError(t, k.client.Create(t.Context(), with(newCSV("etcd.v2"), key)))
	k.settle(name)
	must.Equal(t, "components of the next one", k.refs(name), []string{"ClusterServiceVersion operators/etcd.v2"})
}

// TestOperatorsOfOthers: one that the controller has not created stays when its last component goes, and one that was left by an installation before
// is deleted.
func TestOperatorsOfOthers(t *testing.T) {
	theirs := &v1.Operator{ObjectMeta: metav1.ObjectMeta{Name: name}}
	k := newCluster(t, theirs, with(newCSV("etcd.v1"), key))
	k.settle(name)
	must.NoError(t, k.client.Delete(t.Context(), newCSV("etcd.v1")))
	if diff := cmp.Diff([]string{"patch status Operator " + name}, k.settle(name)); diff != "" || len(k.refs(name)) > 0 {
		t.Errorf("components %v, writes:\n%s", k.refs(name), diff)
	}
	left := theirs.DeepCopy()
	left.Annotations, left.ResourceVersion = map[string]string{GeneratedAnnotation: "true"}, ""
	k = newCluster(t, left)
	must.Equal(t, "writes", k.settle(name), []string{"delete Operator " + name})
}

// TestCollectingMeetsAChange: an Operator that another client has changed meanwhile stays, and an error of the API server is one.
func TestCollectingMeetsAChange(t *testing.T) {
	left := &v1.Operator{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{GeneratedAnnotation: "true"}}}
	k := newCluster(t, left)
	k.Before = func(string) error {
		return apierrors.NewConflict(schema.GroupResource{Resource: "operators"}, name, errors.New("changed"))
	}
	must.NoError(t, k.pass(name))
	k.Before = func(string) error { return errors.New("refused") }
	if err := k.pass(name); err == nil || !strings.Contains(err.Error(), "delete Operator "+name+", which has no component any more: refused") {
		t.Error(err)
	}
	if k.operator(name) == nil {
		t.Error("it is gone")
	}
}

// TestLongNames are cut in labels, and whole in Operators.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("long", 14) + "-name.which-is-too-long"
	s := subscription("etcd.v1", "")
	s.Spec.Package = long
	k := newCluster(t, s, newCSV("etcd.v1"))
	full := long + "." + ns
	if requests := k.c.concerned(t.Context(), ofKind(t, "Subscription"), s); len(requests) != 1 || requests[0].Name != full {
		t.Fatalf("the Subscription wakes %v", requests)
	}
	k.settle(full)
	if len(k.refs(full)) != 2 {
		t.Fatalf("components are %v", k.refs(full))
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	must.NoError(t, k.client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "etcd.v1"}, csv))
	if got := labelled(csv); len(got) != 1 || len(got[0]) > 63 || !strings.HasPrefix(full, got[0]) {
		t.Errorf("the label is %q", got)
	}
	must.NoError(t, k.client.Delete(t.Context(), s))
	if requests := k.c.concerned(t.Context(), ofKind(t, v1alpha1.ClusterServiceVersionKind), csv); len(requests) != 1 || requests[0].Name != full {
		t.Errorf("without the Subscription its operator wakes %v", requests)
	}
}

// TestLimitedManagers leave the Operators of other namespaces alone.
func TestLimitedManagers(t *testing.T) {
	k := newCluster(t, installed()...)
	k.c.namespaces = []string{"elsewhere"}
	if writes := k.settle(name); writes != nil {
		t.Errorf("writes: %v", writes)
	}
	k.c.namespaces = []string{"elsewhere", ns}
	if writes := k.settle(name); len(writes) == 0 {
		t.Error("nothing is written for a namespace of the manager")
	}
}

// TestNamesThatCannotBe are of no label or of no object: nothing fails.
func TestNamesThatCannotBe(t *testing.T) {
	k := newCluster(t, with(deployment("a"), "operators.coreos.com/Upper_Case"))
	for _, odd := range []string{"Upper_Case", "", "a b", "-", strings.Repeat(".", 70)} {
		if writes := k.settle(odd); writes != nil {
			t.Errorf("%q: writes %v", odd, writes)
		}
	}
}

// TestWritesThatFail keep no other object from its label; what an event follows is no error.
func TestWritesThatFail(t *testing.T) {
	tests := map[string]struct {
		err  error
		told bool
	}{
		"refused":  {apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "manager", errors.New("policy")), true},
		"conflict": {apierrors.NewConflict(schema.GroupResource{}, "manager", errors.New("changed")), false},
		"gone":     {apierrors.NewNotFound(schema.GroupResource{}, "manager"), false},
		"namespace": {&apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}}}, false},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			k := newCluster(t, installed()...)
			k.Before = func(write string) error {
				if write == "patch Deployment manager" {
					return test.err
				}
				return nil
			}
			err := k.pass(name)
			if (err != nil) != test.told || test.told && (!strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "Deployment operators/manager")) {
				t.Errorf("error %v", err)
			}
			if refs := k.refs(name); len(refs) != len(installed())-1 {
				t.Errorf("components are %v", refs)
			}
			k.Before = nil
			k.settle(name)
			if refs := k.refs(name); len(refs) != len(installed()) {
				t.Errorf("afterwards components are %v", refs)
			}
		})
	}
}

// TestKilledAtEveryWrite: the next start finishes, and the result is the same.
func TestKilledAtEveryWrite(t *testing.T) {
	whole := newCluster(t, installed()...)
	all := whole.settle(name)
	want := whole.refs(name)
	for i := range all {
		k := newCluster(t, installed()...)
		left := i
		k.Before = func(string) error {
			if left--; left < 0 {
				return fakeapi.ErrKilled
			}
			return nil
		}
		if err := k.pass(name); err == nil {
			t.Fatalf("killed at write %d: no error", i)
		}
		k.Before = nil
		again := k.settle(name)
		if diff := cmp.Diff(want, k.refs(name)); diff != "" || len(again) != len(all)-i {
			t.Errorf("killed at write %d: %d writes afterwards, components:\n%s", i, len(again), diff)
		}
	}
}

// TestTooManyComponents are listed as far as there is room, and that is reported.
func TestTooManyComponents(t *testing.T) {
	const count = 4_000
	objects := []client.Object{with(newCSV("etcd.v1"), key), subscription("etcd.v1", "")}
	for i := range count {
		objects = append(objects, with(&corev1.ConfigMap{ObjectMeta: named(fmt.Sprintf("%s-%05d", strings.Repeat("x", 240), i))}, key))
	}
	k := newCluster(t, objects...)
	k.settle(name)
	refs := k.refs(name)
	if len(refs) < count/3 || len(refs) >= count+2 || !slices.Contains(refs, "Subscription operators/sub") || !slices.Contains(refs, "ClusterServiceVersion operators/etcd.v1") {
		t.Errorf("%d components are listed, the last is %s", len(refs), refs[len(refs)-1])
	}
	select {
	case event := <-k.Events.Events:
		if want := fmt.Sprintf("Warning TooManyComponents the status lists %d of %d components", len(refs), count+2); !strings.HasPrefix(event, want) {
			t.Errorf("told: %s; want %s", event, want)
		}
	default:
		t.Error("nothing is told")
	}
}
