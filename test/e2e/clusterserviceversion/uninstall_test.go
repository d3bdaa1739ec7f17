package clusterserviceversion

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

// inventory names everything in the namespace, and everything elsewhere that says it belongs here. Left out are Events, the roles of the
// OperatorGroup, and those that go with a CRD.
func (w *world) inventory() []string {
	w.Helper()
	var out []string
	for _, kind := range []schema.GroupVersionKind{
		v1alpha1.GroupVersion.WithKind("ClusterServiceVersion"), appsv1.SchemeGroupVersion.WithKind("Deployment"), appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
		corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("Secret"), corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		corev1.SchemeGroupVersion.WithKind("ServiceAccount"), rbacv1.SchemeGroupVersion.WithKind("Role"), rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
		rbacv1.SchemeGroupVersion.WithKind("ClusterRole"), rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"),
		apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
		{Group: "operators.coreos.com", Version: "v2", Kind: "OperatorCondition"}, {Group: "operators.coreos.com", Version: "v1", Kind: "OperatorGroup"},
	} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		must.NoError(w, w.List(w.Context(), list))
		for _, o := range list.Items {
			mine := o.Namespace == w.Namespace || o.Labels["olm.copiedFrom"] == w.Namespace ||
				o.Namespace == "" && (o.Labels["olm.owner.namespace"] == w.Namespace || strings.Contains(o.Name, w.Namespace))
			if mine && !strings.HasPrefix(o.Name, "olm.og.") && !ofCRD(o) {
				out = append(out, kind.Kind+" "+o.Namespace+"/"+o.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// ofCRD says whether an object goes with a CRD.
func ofCRD(o metav1.PartialObjectMetadata) bool {
	return slices.ContainsFunc(o.OwnerReferences, func(r metav1.OwnerReference) bool { return r.Kind == "CustomResourceDefinition" })
}

// TestUninstallLeavesNothing but CRDs and custom resources, which belong to the user.
func TestUninstallLeavesNothing(t *testing.T) {
	for name, targets := range map[string][]string{"own namespace": nil, "all namespaces": {""}} {
		t.Run(name, func(t *testing.T) {
			if len(targets) == 0 {
				sweep.Nightly(t, "an operator of all namespaces, which leaves nothing in more places")
			}
			w := newWorldAlone(t, targets...)
			w.makeCRD("v1")
			before := w.inventory()
			w.install(w.operator("op.v1", w.owns("v1")))
			w.Succeeds("op.v1")
			thing := w.thing("mine")
			w.Make(thing)
			if len(w.inventory()) < len(before)+8 {
				t.Fatalf("little was installed: %v", w.inventory())
			}
			w.Remove(&v1alpha1.ClusterServiceVersion{ObjectMeta: w.Named("op.v1")})
			w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
			must.Eventually(w, "everything to go", func() error {
				if diff := cmp.Diff(before, w.inventory()); diff != "" {
					return fmt.Errorf("(-before +after):\n%s", diff)
				}
				return nil
			})
			if !w.Read("mine", thing) {
				t.Error("a custom resource is gone")
			}
		})
	}
}

// TestCleanup: the custom resources go first, while the operator still runs; the CRD stays.
func TestCleanup(t *testing.T) {
	w := newWorld(t)
	w.makeCRD("v1")
	w.broughtBy(w.Namespace, "op.v1")
	w.install(w.operator("op.v1", w.owns("v1"), func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.Cleanup.Enabled = true }))
	w.Succeeds("op.v1")
	elsewhere := w.thing("elsewhere")
	elsewhere.SetNamespace("default")
	w.RemoveLater(elsewhere)
	w.Make(elsewhere, w.thing("free"), w.thing("held", "example.com/hold"))
	w.Remove(&v1alpha1.ClusterServiceVersion{ObjectMeta: w.Named("op.v1")})
	csv := w.Is("op.v1", v1alpha1.CSVPhaseDeleting, v1alpha1.CSVReasonWaitingOnCleanup)
	w.Goes("free", w.thing("free"))
	if len(csv.Status.Cleanup.PendingDeletion) != 1 || csv.Status.Cleanup.PendingDeletion[0].Kind != "Thing" {
		t.Errorf("pending deletions: %v", csv.Status.Cleanup.PendingDeletion)
	}
	if w.deployment("manager") == nil {
		t.Error("the operator does not run any more")
	}
	held := w.thing("held")
	edit(w, "held", held, func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
	w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
	w.Goes("manager", &appsv1.Deployment{})
	if err := w.Get(w.Context(), client.ObjectKeyFromObject(elsewhere), elsewhere); err != nil {
		t.Errorf("a custom resource of a namespace that the operator has nothing to do with: %v", err)
	}
	if !w.Read(w.crdName("things"), &apiextensionsv1.CustomResourceDefinition{}) {
		t.Error("the CRD is gone")
	}
}

// TestUpgradeCleansNothingUp: a version that is replaced leaves the custom resources to the next one.
func TestUpgradeCleansNothingUp(t *testing.T) {
	w := newWorld(t)
	w.makeCRD("v1")
	w.broughtBy(w.Namespace, "op.v1", "op.v2")
	cleanup := func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.Cleanup.Enabled = true }
	w.install(w.operator("op.v1", w.owns("v1"), cleanup))
	w.Succeeds("op.v1")
	thing := w.thing("mine")
	w.Make(thing)
	w.install(w.operator("op.v2", w.owns("v1"), cleanup, fixture.Replacing("op.v1")))
	w.Succeeds("op.v2")
	w.Goes("op.v1", &v1alpha1.ClusterServiceVersion{})
	if !w.Read("mine", thing) || thing.GetDeletionTimestamp() != nil {
		t.Error("the upgrade deleted a custom resource")
	}
}

// TestNamespaceThatIsDeletedMidway goes, with what the operator had outside of it, whatever it was doing. Operators of other tests have other names, so
// that it can be shown in their namespaces.
func TestNamespaceThatIsDeletedMidway(t *testing.T) {
	t.Parallel()
	for name, unmet := range map[string]bool{"while it waits": true, "while it is installed": false} {
		t.Run(name, func(t *testing.T) {
			if unmet {
				sweep.Nightly(t, "TestFinalizerDoesNotWaitForAGroup and TestOrphansOfADeletedNamespace of internal/controller/clusterserviceversion with a fake API server")
			}
			w := newWorld(t)
			operator := fmt.Sprintf("midway.v%t", unmet)
			// It is another one than that of the test, which the test itself deletes in the end.
			w.Namespace += "-second"
			w.Make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}}, w.operatorGroup(""))
			csv := w.operator(operator, func(csv *v1alpha1.ClusterServiceVersion) {
				csv.Spec.Cleanup.Enabled = true
				if unmet {
					csv.Spec.MinKubeVersion = "99.0.0"
				}
			})
			w.install(csv)
			if unmet {
				w.Is(operator, v1alpha1.CSVPhasePending, v1alpha1.CSVReasonRequirementsNotMet)
			}
			w.Remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}})
			must.Eventually(w, "the namespace to go", func() error {
				err := w.Get(w.Context(), client.ObjectKey{Name: w.Namespace}, &corev1.Namespace{})
				if err == nil {
					return fmt.Errorf("it is there")
				}
				return client.IgnoreNotFound(err)
			})
			must.Eventually(w, "everything to go", func() error {
				if left := w.inventory(); len(left) > 0 {
					return fmt.Errorf("left are %v", left)
				}
				return nil
			})
		})
	}
}
