package manager

import (
	"fmt"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestInstallWithDependencyAndUpgrade(t *testing.T) {
	w := newWorld(t)
	provider := operator{pkg: "provider", version: "1.0.0", kind: "Thing"}
	dependent := operator{pkg: "dependent", version: "1.0.0", kind: "Other", requires: "Thing"}
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(provider, dependent)), w.subscribe("dependent"))
	w.succeeds("dependent.v1.0.0")
	w.succeeds("provider.v1.0.0")
	w.ready()
	if sub := w.subscription("dependent"); sub.Status.State != v1alpha1.SubscriptionStateAtLatest || sub.Status.InstalledCSV != "dependent.v1.0.0" {
		t.Errorf("status of the Subscription: %+v", sub.Status)
	}
	newProvider, newDependent := provider, dependent
	newProvider.version, newDependent.version = "1.1.0", "1.1.0"
	w.catalog(provider, newProvider, dependent, newDependent)
	w.succeeds("dependent.v1.1.0")
	w.succeeds("provider.v1.1.0")
	w.eventually("the replaced versions to go", func() error {
		for _, name := range []string{"dependent.v1.0.0", "provider.v1.0.0"} {
			if _, err := w.csv(name); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is still there, or cannot be read: %w", name, err)
			}
		}
		return nil
	})
	w.ready()
	// Check how many times the Deployment of an operator was rolled out: once a version.
	w.t.Helper()
	var d appsv1.Deployment
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "dependent"}, &d); err != nil {
		w.t.Fatal(err)
	}
	if got := d.Annotations["deployment.kubernetes.io/revision"]; got != fmt.Sprint(2) {
		w.t.Errorf("Deployment %s was rolled out %s times, want %d", "dependent", got, 2)
	}
}

func TestOwnNamespace(t *testing.T) {
	w := newWorld(t)
	o := operator{pkg: "own", version: "1.0.0", mode: "OwnNamespace"}
	w.create(w.group("own", w.namespace), w.catalogSource(w.catalog(o)), w.subscribe("own"))
	w.succeeds("own.v1.0.0")
	var d appsv1.Deployment
	must.NoError(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "own"}, &d))
	if got := d.Spec.Template.Annotations["olm.targetNamespaces"]; got != w.namespace {
		t.Errorf("the pods are told to watch %q, want %q", got, w.namespace)
	}
}

func TestManualApproval(t *testing.T) {
	w := newWorld(t)
	sub := w.subscribe("op")
	sub.Spec.InstallPlanApproval = v1alpha1.ApprovalManual
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(operator{pkg: "op", version: "1.0.0"})), sub)
	w.shows(`InstallPlan install-\w+ \(op.v1.0.0; 0 of \d+ steps\) RequiresApproval`)
	if _, err := w.csv("op.v1.0.0"); !apierrors.IsNotFound(err) {
		t.Errorf("before the approval: %v", err)
	}
	var plans v1alpha1.InstallPlanList
	if err := w.client.List(t.Context(), &plans, client.InNamespace(w.namespace)); err != nil || len(plans.Items) != 1 {
		t.Fatalf("%d plans, %v", len(plans.Items), err)
	}
	update(w, &plans.Items[0], func(p *v1alpha1.InstallPlan) { p.Spec.Approved = true })
	w.succeeds("op.v1.0.0")
	w.ready()
}

func TestBundleObjectsAndPermissions(t *testing.T) {
	w := newWorld(t)
	o := operator{pkg: "op", version: "1.0.0", kind: "Thing", files: map[string]string{
		"manifests/config.json":  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"op-config"},"data":{"a":"b"}}`,
		"manifests/secret.json":  `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"op-secret"},"stringData":{"a":"b"}}`,
		"manifests/service.json": `{"apiVersion":"v1","kind":"Service","metadata":{"name":"op"},"spec":{"selector":{"app":"op"},"ports":[{"port":80}]}}`,
	}}
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(o)), w.subscribe("op"))
	w.succeeds("op.v1.0.0")
	csv := must.Value(w.csv("op.v1.0.0"))(t)
	for _, object := range []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "op-config"}}, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "op-secret"}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "op"}}, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "op"}}} {
		must.NoError(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: object.GetName()}, object))
		if owners := object.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != csv.UID {
			t.Errorf("%T %s is owned by %v, want the ClusterServiceVersion", object, object.GetName(), owners)
		}
		if object.GetLabels()["olm.managed"] != "true" {
			t.Errorf("%T %s has the labels %v", object, object.GetName(), object.GetLabels())
		}
	}
}
