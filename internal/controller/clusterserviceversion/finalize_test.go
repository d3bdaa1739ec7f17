package clusterserviceversion

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/test/must"
)

func TestUninstall(t *testing.T) {
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}})
	k.installed(newCSV("op.v1", withWebhooks))
	k.create(&apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.x.example.com", Labels: managedLabels(k.csv("op.v1"))}})
	k.delete(k.csv("op.v1"))

	// As long as something cannot be removed, the CSV stays.
	k.failAt("deletecollection ClusterRole ", errors.New("no"))
	if _, err := k.reconcile("op.v1"); err == nil || k.csv("op.v1") == nil {
		t.Fatalf("the CSV went although a ClusterRole could not be deleted (%v)", err)
	}
	k.api.Before = nil
	k.goes("op.v1")
	must.Empty(t, "webhook configurations", k.webhookConfigurations())
	if c := k.conversion("things.example.com"); c.Strategy != "None" || c.Webhook != nil {
		t.Errorf("conversion: %+v", c)
	}
	for name, list := range map[string]client.ObjectList{
		"ClusterRoles": &rbacv1.ClusterRoleList{}, "ClusterRoleBindings": &rbacv1.ClusterRoleBindingList{},
		"APIServices": &apiregistrationv1.APIServiceList{}, "RoleBindings of kube-system": &rbacv1.RoleBindingList{},
	} {
		options := []client.ListOption{}
		if strings.HasSuffix(name, "kube-system") {
			options = append(options, client.InNamespace("kube-system"))
		}
		must.NoError(t, k.client.List(t.Context(), list, options...))
		want := 0
		if name == "ClusterRoles" {
			want = 1 // the foreign one
		}
		must.Equal(t, name+" are left", countItems(t, list), want)
	}
	must.Equal(t, "the CRD is gone: CRDs always stay", !k.get("", "things.example.com", &apiextensionsv1.CustomResourceDefinition{}), false)
}

func countItems(t *testing.T, list client.ObjectList) int {
	t.Helper()
	switch l := list.(type) {
	case *rbacv1.ClusterRoleList:
		return len(l.Items)
	case *rbacv1.ClusterRoleBindingList:
		return len(l.Items)
	case *rbacv1.RoleBindingList:
		return len(l.Items)
	case *apiregistrationv1.APIServiceList:
		return len(l.Items)
	}
	t.Fatalf("%T is not counted", list)
	return 0
}

// TestConversionOfSomebodyElseStays: only what leads to the CSV's own Service is reset.
func TestConversionOfSomebodyElseStays(t *testing.T) {
	k := hooked(t)
	edit(k, "", "things.example.com", &apiextensionsv1.CustomResourceDefinition{}, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion.Webhook.ClientConfig.Service.Name = "elsewhere"
	})
	k.delete(k.csv("op.v1"))
	k.pass("op.v1")
	must.Equal(t, "conversion", k.conversion("things.example.com").Strategy, "Webhook")
}

// laggingRoles is a cache that does not know of any Role yet.
type laggingRoles struct{ client.Client }

func (l laggingRoles) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	switch list.(type) {
	case *rbacv1.RoleList, *rbacv1.RoleBindingList:
		return nil
	}
	return l.Client.List(ctx, list, opts...)
}

// TestCopiesGoThatTheCacheDoesNotShow: permissions in target namespaces that were made a moment ago go with the CSV, and no one else's do.
func TestCopiesGoThatTheCacheDoesNotShow(t *testing.T) {
	k := newCluster(t, newGroup(ns, "target"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "target"}})
	csv := newCSV("op.v1")
	k.installed(csv)
	name := permissionRole(t, csv).Name
	if !k.get("target", name, &rbacv1.Role{}) || !k.get("target", name, &rbacv1.RoleBinding{}) {
		t.Fatal("the permissions were not copied")
	}
	k.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "target", Name: "foreign", Labels: bundle.OwnerLabels(csv)}})
	k.c.client = laggingRoles{k.api}
	k.delete(k.csv("op.v1"))
	k.goes("op.v1")
	if k.get("target", name, &rbacv1.Role{}) || k.get("target", name, &rbacv1.RoleBinding{}) {
		t.Error("copied permissions are left")
	}
	must.Equal(t, "a Role that is no copy is gone", !k.get("target", "foreign", &rbacv1.Role{}), false)
}

func TestForeignFinalizersStay(t *testing.T) {
	csv := newCSV("op.v1")
	csv.Finalizers = []string{"example.com/other"}
	csv.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
	k := newCluster(t, csv)
	k.pass("op.v1")
	must.Empty(t, "writes", k.wrote())
}

// TestMigrationEndsWithTheNamespace: what a migration that was cut short holds does not keep a namespace from going, and is held until then.
func TestMigrationEndsWithTheNamespace(t *testing.T) {
	for name, goes := range map[string]bool{"stays": false, "goes": true} {
		t.Run(name, func(t *testing.T) {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
			csv := newCSV("op.v1")
			csv.Finalizers, csv.DeletionTimestamp = []string{v1alpha1.CSVCleanupFinalizer, migrate.Hold}, &metav1.Time{Time: time.Unix(1, 0)}
			if goes {
				namespace.Finalizers, namespace.DeletionTimestamp = []string{"kubernetes"}, csv.DeletionTimestamp
			}
			k := newCluster(t, namespace, csv)
			for range 2 { // first the finalizer of its own
				must.Value(k.reconcile("op.v1"))(t)
			}
			if left := k.csv("op.v1"); (left == nil) != goes || left != nil && !slices.Equal(left.Finalizers, []string{migrate.Hold}) {
				t.Errorf("the ClusterServiceVersion: %+v", left)
			}
		})
	}
}

func TestOrphanedAPIServices(t *testing.T) {
	gone, there := newCSV("gone"), newCSV("there")
	service := func(name string, labels map[string]string) *apiregistrationv1.APIService {
		return &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	k := newCluster(t, there, service("v1.orphan", managedLabels(gone)), service("v1.owned", managedLabels(there)), service("v1.foreign", nil))
	must.Value(k.reconcile("gone"))(t)
	var list apiregistrationv1.APIServiceList
	if err := k.client.List(t.Context(), &list); err != nil || len(list.Items) != 2 || list.Items[0].Name != "v1.foreign" || list.Items[1].Name != "v1.owned" {
		t.Errorf("%v: %v", err, list.Items)
	}
	// A cache that does not show the CSV yet is not believed.
	k.c.client = newCluster(t, service("v1.owned", managedLabels(there))).client
	must.Value(k.reconcile("there"))(t)
	var cached apiregistrationv1.APIServiceList
	if err := k.c.client.List(t.Context(), &cached); err != nil || len(cached.Items) != 1 {
		t.Errorf("%v: %v", err, cached.Items)
	}
}

// TestOrphansOfADeletedNamespace: an operator whose namespace went before its finalizer could run leaves nothing that gives rights or calls it. While the
// namespace exists, its InstallPlan may be about to create the operator.
func TestOrphansOfADeletedNamespace(t *testing.T) {
	gone, other := newCSV("gone"), newCSV("other")
	other.Namespace = "elsewhere"
	about := func(name string, of *v1alpha1.ClusterServiceVersion) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Labels: managedLabels(of)}
	}
	k := newCluster(t,
		&rbacv1.ClusterRole{ObjectMeta: about("role", gone)}, &rbacv1.ClusterRoleBinding{ObjectMeta: about("binding", gone)},
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: about("hook", gone)}, &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: about("hook", gone)},
		&rbacv1.ClusterRole{ObjectMeta: about("other", other)}, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: gone.Namespace}})
	left := func(want int) {
		t.Helper()
		must.Value(k.reconcile("gone"))(t)
		_, objects, err := orphans(t.Context(), k.c.client, client.MatchingLabels{v1alpha1.OwnerLabel: "gone"})
		must.NoError(t, err)
		must.Equal(t, "count of objects", len(objects), want)
		for _, name := range []string{"other", "foreign"} {
			if !k.get("", name, &rbacv1.ClusterRole{}) {
				t.Errorf("ClusterRole %s is gone", name)
			}
		}
	}
	left(4)
	now := metav1.Now()
	namespace := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: gone.Namespace, DeletionTimestamp: &now}}
	if requests := k.c.triggers().targeting(t.Context(), namespace); !slices.Contains(requests, reconcile.Request{NamespacedName: key(gone.Namespace, "gone")}) {
		t.Errorf("the namespace brings %v", requests)
	}
	must.NoError(t, k.client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: gone.Namespace}}))
	left(0)
}

// TestLongNamesDoNotHoldUpTheDeletion: a name that cannot be the value of a label cannot be looked for either.
func TestLongNamesDoNotHoldUpTheDeletion(t *testing.T) {
	name := "op." + strings.Repeat("x", 61)
	refuse := func(write string) error {
		if strings.HasPrefix(write, "deletecollection") {
			return errors.New("unable to parse requirement: must be no more than 63 bytes")
		}
		return nil
	}
	k := newCluster(t, newGroup(""))
	k.api.Before = refuse
	k.create(newCSV(name, withoutAccounts))
	csv := k.pass(name)
	expect(t, csv, toFailed, "InvalidInstallStrategy", "")
	must.Empty(t, "finalizers", csv.Finalizers)
	// One that has the finalizer already goes as well.
	csv.Finalizers = []string{"operators.coreos.com/csv-cleanup"}
	must.NoError(t, k.client.Update(t.Context(), csv))
	k.delete(csv)
	k.goes(name)
}

// TestBindingInKubeSystemGoes also when the CSV does not describe any more what it was for.
func TestBindingInKubeSystemGoes(t *testing.T) {
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "foreign"}})
	k.installed(newCSV("op.v1", withoutAccounts, withWebhooks))
	k.delete(&v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "group"}})
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.WebhookDefinitions = nil })
	k.pass("op.v1")
	k.delete(k.csv("op.v1"))
	k.pass("op.v1")
	var list rbacv1.RoleBindingList
	must.NoError(t, k.client.List(t.Context(), &list, client.InNamespace("kube-system")))
	if k.csv("op.v1") != nil || len(list.Items) != 1 || list.Items[0].Name != "foreign" {
		t.Errorf("left in kube-system: %v", list.Items)
	}
}

// TestLimitedManagersNeedNoRightsInKubeSystem for operators that serve nothing.
func TestLimitedManagersNeedNoRightsInKubeSystem(t *testing.T) {
	k := newCluster(t, newGroup(""))
	k.installed(newCSV("op.v1", withoutAccounts))
	k.failAt("deletecollection RoleBinding", apierrors.NewForbidden(schema.GroupResource{Resource: "rolebindings"}, "", errors.New("no")))
	k.delete(k.csv("op.v1"))
	k.goes("op.v1")
}
