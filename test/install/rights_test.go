package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/controller/catalogsource"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const operatorsNamespace = "operators"

func source(name string, spec v1alpha1.CatalogSourceSpec) *v1alpha1.CatalogSource {
	return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: name}, Spec: spec}
}

func ofImage(ref string) v1alpha1.CatalogSourceSpec {
	return v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref, UpdateStrategy: &v1alpha1.UpdateStrategy{
		RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: time.Second}, RawInterval: "1s"}}}
}

// TestTheRightsSuffice installs, upgrades, shows and removes an operator, with catalogs of every origin, through both APIs, by a manager that has
// the rights of the manifests, and finds that it is refused nothing.
func TestTheRightsSuffice(t *testing.T) {
	w := ownWorld(t)
	harness.Apply(t.Context(), t, w, harness.Kustomized(t, config))
	w.deploymentRuns("olm", "fairlead-manager")
	w.run(w.asManager())
	w.extensionsComeAndGo()
	harness.Apply(t.Context(), t, w, harness.Kustomized(t, filepath.Join(config, "defaults")))
	w.create(source("samples", ofImage(w.catalog("1.1.0"))), &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: operatorsNamespace, Name: "greeter"},
		Spec: &v1alpha1.SubscriptionSpec{Package: "greeter-operator", CatalogSource: "samples", CatalogSourceNamespace: "olm"}})
	w.succeeds(operatorsNamespace, "greeter-operator.v1.1.0")
	w.packageIsShown("greeter-operator")
	w.catalog("1.2.0")
	csv := w.succeeds(operatorsNamespace, "greeter-operator.v1.2.0")
	w.podsOnRequest()
	w.catalogInAConfigMap()
	w.uninstall(csv)
}

func (w *world) deploymentRuns(namespace, name string) {
	w.t.Helper()
	must.Eventually(w.t, "Deployment "+name+" to be available", func() error {
		d := &appsv1.Deployment{}
		if err := w.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, d); err != nil {
			return err
		}
		if d.Status.AvailableReplicas < *d.Spec.Replicas {
			return fmt.Errorf("%d of %d pods are available: %v", d.Status.AvailableReplicas, *d.Spec.Replicas, d.Status.Conditions)
		}
		return nil
	})
}

func (w *world) packageIsShown(name string) {
	w.t.Helper()
	shown := &unstructured.Unstructured{}
	shown.SetGroupVersionKind(schema.GroupVersionKind{Group: "packages.operators.coreos.com", Version: "v1", Kind: "PackageManifest"})
	must.Eventually(w.t, "PackageManifest "+name, func() error {
		err := w.Get(w.t.Context(), client.ObjectKey{Namespace: operatorsNamespace, Name: name}, shown)
		if err == nil {
			return nil
		}
		all := &unstructured.UnstructuredList{}
		all.SetGroupVersionKind(shown.GroupVersionKind())
		failed := w.List(w.t.Context(), all)
		return errors.Join(fmt.Errorf("%w; %d in all namespaces", err, len(all.Items)), failed)
	})
}

// podsOnRequest: a catalog gets a pod, which is replaced, and gives it up again.
func (w *world) podsOnRequest() {
	w.t.Helper()
	podded := source("podded", ofImage(w.catalog("1.2.0")))
	podded.Annotations = map[string]string{catalogsource.PodAnnotation: "true"}
	podded.Spec.GrpcPodConfig = &v1alpha1.GrpcPodConfig{SecurityContextConfig: v1alpha1.Restricted}
	w.create(podded)
	pods := func() []corev1.Pod {
		var list corev1.PodList
		must.NoError(w.t, w.List(w.t.Context(), &list, client.InNamespace("olm"), client.MatchingLabels{v1alpha1.CatalogSourceLabel: "podded"}))
		return list.Items
	}
	other := func(than types.UID) func() error {
		return func() error {
			if there := pods(); len(there) != 1 || there[0].UID == than || there[0].DeletionTimestamp != nil {
				return fmt.Errorf("there are %d pods", len(there))
			}
			return nil
		}
	}
	must.Eventually(w.t, "a pod", other(""))
	first := pods()[0]
	must.NoError(w.t, w.Delete(w.t.Context(), &first, client.GracePeriodSeconds(0)))
	must.Eventually(w.t, "another pod", other(first.UID))
	must.NoError(w.t, w.Get(w.t.Context(), client.ObjectKeyFromObject(podded), podded))
	before := podded.DeepCopy()
	delete(podded.Annotations, catalogsource.PodAnnotation)
	must.NoError(w.t, w.Patch(w.t.Context(), podded, client.MergeFrom(before)))
	must.Eventually(w.t, "the pod to go", func() error {
		if n := len(pods()); n > 0 {
			return fmt.Errorf("there are %d", n)
		}
		return nil
	})
	w.serves(podded)
}

func (w *world) catalogInAConfigMap() {
	w.t.Helper()
	w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "content"}, Data: map[string]string{
		"catalog.yaml": "schema: olm.package\nname: p\ndefaultChannel: c\n---\nschema: olm.channel\npackage: p\nname: c\nentries: [{name: p.v1.0.0}]\n---\n" +
			"schema: olm.bundle\npackage: p\nname: p.v1.0.0\nimage: registry.example.com/p:v1\nproperties: [{type: olm.package, value: {packageName: p, version: 1.0.0}}]\n"}})
	s := source("in-a-configmap", v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeConfigmap, ConfigMap: "content"})
	w.create(s)
	w.serves(s)
}

// serves waits until a catalog is READY.
func (w *world) serves(s *v1alpha1.CatalogSource) {
	w.t.Helper()
	harness.Await(w.t, w, client.ObjectKeyFromObject(s), s, "CatalogSource "+s.Name+" to be READY", func() error {
		if c := s.Status.GRPCConnectionState; c == nil || c.LastObservedState != "READY" {
			return fmt.Errorf("status %+v: %s", c, s.Status.Message)
		}
		return nil
	})
}

func (w *world) uninstall(csv *v1alpha1.ClusterServiceVersion) {
	w.t.Helper()
	group := &operatorsv1.OperatorGroup{}
	must.NoError(w.t, w.Get(w.t.Context(), client.ObjectKey{Namespace: operatorsNamespace, Name: "global-operators"}, group))
	name := csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Name
	for _, o := range []client.Object{
		&v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: operatorsNamespace, Name: "greeter"}},
		csv,
	} {
		must.NoError(w.t, w.Delete(w.t.Context(), o))
	}
	w.gone(csv)
	w.gone(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: operatorsNamespace, Name: name}})
}
