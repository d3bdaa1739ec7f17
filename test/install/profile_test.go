package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// profile is what kubectl apply -k makes of a kustomization as docs/installing.md has it.
func profile(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	return withComponent(t, "profiles/v0")
}

// TestTheChartMakesTheProfile: the value apis of the chart makes what the kustomization makes.
func TestTheChartMakesTheProfile(t *testing.T) {
	theSame(t, slices.Concat(profile(t), harness.Kustomized(t, filepath.Join(config, "defaults"))), chart(t, func(v map[string]any) { v["apis"] = []any{"v0"} }))
}

// TestTheProfileHasNoWildcards: no rule of the manager in the profile covers every group, resource or verb, while the manifests for both APIs
// have one.
func TestTheProfileHasNoWildcards(t *testing.T) {
	wildcards := func(all []*unstructured.Unstructured) int {
		n := 0
		for _, o := range all {
			rules, _, _ := unstructured.NestedSlice(o.Object, "rules")
			for _, rule := range rules {
				for _, field := range []string{"apiGroups", "resources", "verbs", "nonResourceURLs"} {
					values, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), field)
					if slices.Contains(values, "*") {
						n++
					}
				}
			}
		}
		return n
	}
	if n := wildcards(profile(t)); n != 0 {
		t.Errorf("the profile has %d wildcards", n)
	}
	if n := wildcards(harness.Kustomized(t, config)); n != 2 {
		t.Errorf("the manifests have %d wildcards, want one rule with two", n)
	}
}

// TestTheRightsOfV0Suffice is TestTheRightsSuffice with the profile: nothing is refused, though no rule covers every resource, and no bundle can add one.
func TestTheRightsOfV0Suffice(t *testing.T) {
	w := ownWorld(t)
	harness.Apply(t.Context(), t, w, profile(t))
	w.runWith(w.asManager(), func(o *manager.Options) { o.WithoutV1 = true })
	w.bundlesAddNothing()
	harness.Apply(t.Context(), t, w, harness.Kustomized(t, filepath.Join(config, "defaults")))
	w.create(source("samples", ofImage(w.catalog("1.1.0"))), &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: operatorsNamespace, Name: "greeter"},
		Spec: &v1alpha1.SubscriptionSpec{Package: "greeter-operator", CatalogSource: "samples", CatalogSourceNamespace: "olm"}})
	w.succeeds(operatorsNamespace, "greeter-operator.v1.1.0")
	w.packageIsShown("greeter-operator")
	w.catalog("1.2.0")
	csv := w.succeeds(operatorsNamespace, "greeter-operator.v1.2.0")
	w.podsOnRequest()
	w.catalogInAConfigMap()
	// Make a custom resource of the sample operator, once the manager has the right to manage those.
	w.t.Helper()
	must.Eventually(w.t, "the role for custom resources to have the operator's API", func() error {
		role := &rbacv1.ClusterRole{}
		if err := w.Get(w.t.Context(), client.ObjectKey{Name: "fairlead-manager-custom-resources"}, role); err != nil {
			return err
		}
		if !slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Equal(r.APIGroups, []string{"demo.fairlead.dev"}) }) {
			return fmt.Errorf("its rules are %v", role.Rules)
		}
		return nil
	})
	g := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"name": "Ada"}}}
	g.SetGroupVersionKind(schema.GroupVersionKind{Group: "demo.fairlead.dev", Version: "v1", Kind: "Greeting"})
	g.SetNamespace(operatorsNamespace)
	g.SetName("hello")
	w.create(g)
	greeting := g
	before := csv.DeepCopy()
	csv.Spec.Cleanup.Enabled = true
	must.NoError(t, w.Patch(t.Context(), csv, client.MergeFrom(before)))
	w.uninstall(csv)
	w.gone(greeting) // spec.cleanup deletes it, by the right on the operator's own API
}
