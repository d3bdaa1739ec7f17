package manager

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/sweep"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// permitted are the resources that the Roles of a ClusterServiceVersion name.
func (w *world) permitted(csv string) []string {
	w.t.Helper()
	var roles rbacv1.RoleList
	if err := w.client.List(w.t.Context(), &roles, client.InNamespace(w.namespace), client.MatchingLabels{v1alpha1.OwnerLabel: csv}); err != nil {
		w.t.Fatal(err)
	}
	var found []string
	for _, r := range roles.Items {
		for _, rule := range r.Rules {
			found = append(found, rule.Resources...)
		}
	}
	slices.Sort(found)
	return found
}

// TestPlanOfSeveralCatalogs: one plan has operators of two catalogs, a Subscription for the one that nobody asked for, and that is kept up
// to date from its catalog.
func TestPlanOfSeveralCatalogs(t *testing.T) {
	w := newWorld(t)
	provider := operator{pkg: "provider", version: "1.0.0", kind: "Thing"}
	dependent := operator{pkg: "dependent", version: "1.0.0", requires: "Thing"}
	second := w.catalogSource(w.secondCatalog(provider))
	second.Name = "second"
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(dependent)), second, w.subscribe("dependent"))
	w.succeeds("dependent.v1.0.0")
	w.succeeds("provider.v1.0.0")
	p := w.planFor(v1alpha1.InstallPlanPhaseComplete, "dependent.v1.0.0", "provider.v1.0.0")
	if got := slices.Sorted(slices.Values(p.Status.CatalogSources)); !slices.Equal(got, []string{"catalog", "second"}) {
		t.Errorf("catalogs %v", got)
	}
	sub := w.subscription("provider-stable-second-" + w.namespace)
	if sub.Annotations[v1alpha1.GeneratedByAnnotation] != p.Name || sub.Spec.StartingCSV != "provider.v1.0.0" {
		t.Errorf("the Subscription of the dependency: %v, %+v", sub.Annotations, sub.Spec)
	}
	newer := provider
	newer.version = "1.1.0"
	w.secondCatalog(provider, newer)
	w.succeeds("provider.v1.1.0")
}

// secondCatalog publishes versions of the provider of Things as another catalog.
func (w *world) secondCatalog(versions ...operator) string {
	w.t.Helper()
	text := `{"schema":"olm.package","name":"provider","defaultChannel":"stable"}`
	var entries []string
	for i, o := range versions {
		text += fmt.Sprintf(`{"schema":"olm.bundle","package":%q,"name":%q,"image":%q,"properties":[{"type":"olm.package","value":{"packageName":%q,"version":%q}},
			{"type":"olm.gvk","value":{"group":%q,"version":"v1","kind":%q}}]}`, o.pkg, o.name(), w.bundle(o), o.pkg, o.version, w.apiGroup(), o.kind)
		entry := fmt.Sprintf(`{"name":%q}`, o.name())
		if i > 0 {
			entry = fmt.Sprintf(`{"name":%q,"replaces":%q}`, o.name(), versions[i-1].name())
		}
		entries = append(entries, entry)
	}
	text += fmt.Sprintf(`{"schema":"olm.channel","package":"provider","name":"stable","entries":[%s]}`, strings.Join(entries, ","))
	return w.push(w.namespace+"/second:latest", map[string][]byte{"configs/catalog.json": []byte(text)}, image.CatalogLabels())
}

// TestOnePlanAGeneration: a catalog that changes all the time leads to plans one after the other, each with a generation of its own. Those that nobody
// approved make way for one of the newest version.
func TestOnePlanAGeneration(t *testing.T) {
	w := newWorld(t)
	versions := []operator{{pkg: "op", version: "1.0.0"}}
	manual := w.subscribe("op")
	manual.Spec.InstallPlanApproval = v1alpha1.ApprovalManual
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(versions...)), manual)
	old := w.planFor(v1alpha1.InstallPlanPhaseRequiresApproval, "op.v1.0.0")
	seen := map[int]string{}
	watch := func() {
		for _, p := range w.plans() {
			if name := seen[p.Spec.Generation]; name != "" && name != p.Name {
				t.Errorf("plans %s and %s both have generation %d", name, p.Name, p.Spec.Generation)
			}
			seen[p.Spec.Generation] = p.Name
		}
	}
	for i := range sweep.Of(2, 2, 8) {
		versions = append(versions, operator{pkg: "op", version: fmt.Sprintf("1.%d.0", i+1)})
		w.catalog(versions...)
		for range 10 {
			watch()
			time.Sleep(50 * time.Millisecond)
		}
	}
	newest := versions[len(versions)-1].name()
	p := w.planFor(v1alpha1.InstallPlanPhaseRequiresApproval, newest)
	watch()
	if plans := w.plans(); len(plans) != 1 {
		t.Errorf("%d plans are left, want the one that counts", len(plans))
	}
	if _, err := w.csv("op.v1.0.0"); !apierrors.IsNotFound(err) {
		t.Errorf("nothing was approved, but: %v", err)
	}
	if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(old), old); !apierrors.IsNotFound(err) {
		t.Errorf("the superseded plan: %v", err)
	}
	if p.Spec.Generation <= old.Spec.Generation {
		t.Errorf("generation %d after %d", p.Spec.Generation, old.Spec.Generation)
	}
	w.approve(p)
	w.succeeds(newest)
	if _, err := w.csv("op.v1.0.0"); !apierrors.IsNotFound(err) {
		t.Errorf("the superseded version: %v", err)
	}
}
