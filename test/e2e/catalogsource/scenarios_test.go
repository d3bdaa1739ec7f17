package catalogsource

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// integration is a CustomResourceDefinition that a cluster has or has not, for objects that bundles bring.
func integration(group, version, plural, kind string) *apiextensionsv1.CustomResourceDefinition {
	yes := true
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group,
		Annotations: map[string]string{"api-approved.kubernetes.io": "unapproved, for a test"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: strings.ToLower(kind), Kind: kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}}}}}}
}

// TestObjectsBesideTheOperator: a PodDisruptionBudget, a PriorityClass, a VerticalPodAutoscaler, and objects for the monitoring that the
// cluster has.
func TestObjectsBesideTheOperator(t *testing.T) {
	w := newWorld(t)
	for _, crd := range []*apiextensionsv1.CustomResourceDefinition{
		integration("autoscaling.k8s.io", "v1", "verticalpodautoscalers", "VerticalPodAutoscaler"),
		integration("monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor"),
		integration("monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule"),
	} {
		w.Make(crd)
		t.Cleanup(func() { _ = w.Delete(context.Background(), crd) })
		must.Eventually(w, crd.Name+" to be known", func() error { // Why clients do not find a kind yet.
			server, err := discovery.NewDiscoveryClientForConfig(devcluster.Config())
			if err != nil {
				return err
			}
			_, all, err := server.ServerGroupsAndResources()
			for _, list := range all {
				for _, r := range list.APIResources {
					if strings.HasPrefix(list.GroupVersion, crd.Spec.Group+"/") && r.Kind == crd.Spec.Names.Kind {
						return nil
					}
				}
			}
			return fmt.Errorf("the server does not list %s: %w", crd.Spec.Names.Kind, err)
		})
	}
	priority := w.Namespace + "-urgent"
	w.publish(operator{pkg: "op", version: "1.0.0", files: map[string]string{
		"manifests/budget.json":   `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"extra"},"spec":{"maxUnavailable":1,"selector":{"matchLabels":{"app":"op"}}}}`,
		"manifests/priority.json": `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"` + priority + `"},"value":5}`,
		"manifests/vpa.json":      `{"apiVersion":"autoscaling.k8s.io/v1","kind":"VerticalPodAutoscaler","metadata":{"name":"extra"},"spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"op"}}}`,
		"manifests/monitor.json":  `{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"extra"},"spec":{"endpoints":[],"selector":{}}}`,
		"manifests/rule.json":     `{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusRule","metadata":{"name":"extra"},"spec":{"groups":[]}}`,
	}})
	w.run(devcluster.Config(), nil)
	w.Make(w.asked()...)
	w.Succeeds("op.v1.0.0")
	for gvk, key := range map[schema.GroupVersionKind]client.ObjectKey{
		{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}:               {Namespace: w.Namespace, Name: "extra"},
		{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}:          {Name: priority},
		{Group: "autoscaling.k8s.io", Version: "v1", Kind: "VerticalPodAutoscaler"}: {Namespace: w.Namespace, Name: "extra"},
		{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}:     {Namespace: w.Namespace, Name: "extra"},
		{Group: "monitoring.coreos.com", Version: "v1", Kind: "PrometheusRule"}:     {Namespace: w.Namespace, Name: "extra"},
	} {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(gvk)
		must.Eventually(w, gvk.Kind+" of the bundle", func() error { return w.Get(t.Context(), key, o) })
	}
}

// TestACRDWithASchema is created with it, and served.
func TestACRDWithASchema(t *testing.T) {
	w := newWorld(t)
	w.publish(operator{pkg: "op", version: "1.0.0", kind: "Gauge"})
	w.run(devcluster.Config(), nil)
	w.Make(w.asked()...)
	w.Succeeds("op.v1.0.0")
	gauge := &unstructured.Unstructured{Object: map[string]any{"apiVersion": w.group() + "/v1", "kind": "Gauge",
		"metadata": map[string]any{"namespace": w.Namespace, "name": "g"}, "spec": map[string]any{"size": int64(0)}}}
	must.Eventually(w, "the schema of the bundle to be applied", func() error {
		if err := w.Create(t.Context(), gauge.DeepCopy()); err == nil || !strings.Contains(err.Error(), "spec.size") {
			return fmt.Errorf("an object that it forbids: %w", err)
		}
		return nil
	})
	gauge.Object["spec"] = map[string]any{"size": int64(1)}
	w.Make(gauge)
}

// TestAnAPIThatTheClusterHasNotAnyMore fails the plan, which names it and says where to read on.
func TestAnAPIThatTheClusterHasNotAnyMore(t *testing.T) {
	w := newWorld(t)
	w.publish(operator{pkg: "op", version: "1.0.0", files: map[string]string{
		"manifests/budget.json": `{"apiVersion":"policy/v1beta1","kind":"PodDisruptionBudget","metadata":{"name":"extra"},"spec":{"maxUnavailable":1}}`}})
	w.run(devcluster.Config(), nil)
	w.Make(w.asked()...)
	must.Eventually(w, "the plan to fail", func() error {
		var plans v1alpha1.InstallPlanList
		if err := w.List(t.Context(), &plans, client.InNamespace(w.Namespace)); err != nil {
			return err
		}
		for _, p := range plans.Items {
			if p.Status.Phase == v1alpha1.InstallPlanPhaseFailed && strings.Contains(p.Status.Message, "api-server resource not found installing PodDisruptionBudget extra: GroupVersionKind policy/v1beta1, Kind=PodDisruptionBudget not found on the cluster") {
				return nil
			}
		}
		return fmt.Errorf("plans %+v", plans.Items)
	})
}

// TestADependencyIsUpgradedByAReplacedCatalog: it replaces what was installed for it.
func TestADependencyIsUpgradedByAReplacedCatalog(t *testing.T) {
	w := newWorld(t)
	dependency := operator{pkg: "dep", version: "1.0.0", kind: "Need"}
	dependent := operator{pkg: "op", version: "1.0.0", requires: "Need"}
	w.publish(dependency, dependent)
	w.run(devcluster.Config(), nil)
	w.Make(w.asked()...)
	w.Succeeds("op.v1.0.0")
	w.Succeeds("dep.v1.0.0")
	next := operator{pkg: "dep", version: "1.1.0", kind: "Need", replaces: dependency.name()}
	w.publish(dependency, next, dependent)
	if csv := w.Succeeds("dep.v1.1.0"); csv.Spec.Replaces != "dep.v1.0.0" {
		t.Errorf("spec.replaces is %q", csv.Spec.Replaces)
	}
	must.Eventually(w, "the old version to go", func() error {
		err := w.Get(t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: "dep.v1.0.0"}, &v1alpha1.ClusterServiceVersion{})
		if client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("it is still there: %w", err)
		}
		return nil
	})
	w.Succeeds("op.v1.0.0")
}

// TestACSVWithoutAPIVersion is told with the Subscription, with the name of the field, and nothing is installed.
func TestACSVWithoutAPIVersion(t *testing.T) {
	w := newWorld(t)
	o := operator{pkg: "op", version: "1.0.0"}
	o.csv = strings.Replace(w.csv(o), `"apiVersion":"operators.coreos.com/v1alpha1",`, "", 1)
	w.publish(o)
	w.run(devcluster.Config(), nil)
	w.Make(w.asked()...)
	must.Eventually(w, "to be told", func() error {
		var sub v1alpha1.Subscription
		if err := w.Get(t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: "op"}, &sub); err != nil {
			return err
		}
		if c := sub.Status.GetCondition(v1alpha1.SubscriptionBundleUnpackFailed); c.Status != corev1.ConditionTrue || !strings.Contains(c.Message, "apiVersion") {
			return fmt.Errorf("conditions %+v", sub.Status.Conditions)
		}
		return nil
	})
}
