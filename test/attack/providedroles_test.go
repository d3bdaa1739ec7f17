package attack

import (
	"context"
	"errors"
	"fmt"
	"path"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// allowed reports whether a user may create objects of a resource in a namespace.
func (w *world) allowed(user, namespace, group, resource string) bool {
	w.t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, Groups: []string{"system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "create", Group: group, Resource: resource}}}
	must.NoError(w.t, w.Create(w.t.Context(), review))
	return review.Status.Allowed
}

// becomes waits until a user may create objects of a resource, or no longer may.
func (w *world) becomes(user, namespace, group, resource string, want bool) {
	w.t.Helper()
	must.Eventually(w.t, fmt.Sprintf("the right of %s to create %s.%s to be %t", user, resource, group, want), func() error {
		if w.allowed(user, namespace, group, resource) != want {
			return errors.New("it is not")
		}
		return nil
	})
}

// greeters publishes versions of the example operator, and returns the reference of their catalog.
func (w *world) greeters(versions ...string) string {
	w.t.Helper()
	ref, _ := fixture.Samples(w.t, bundleio.Publisher{Registry: path.Join(w.registry, "attack-greeters")}, "catalog", fixture.Greeters(versions...))
	return ref
}

// TestOperatorOfACatalogGetsRoles: users get access to the API of an operator that an InstallPlan brought, keep it at every moment of an upgrade, and lose
// it with the operator.
func TestOperatorOfACatalogGetsRoles(t *testing.T) {
	const group, resource, home, tenant = "demo.fairlead.dev", "greetings", "attack-catalog", "attack-catalog-edit"
	w := sharedWorld(t)
	w.namespace(home)
	w.namespace(tenant)
	w.group(home, "")
	w.bind(tenant, "alice", "edit")
	t.Cleanup(func() {
		_ = w.Delete(context.Background(), &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: resource + "." + group}})
	})
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "catalog"},
		Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: w.greeters("1.0.0")}}
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "greeter"}, Spec: &v1alpha1.SubscriptionSpec{
		Package: "greeter-operator", Channel: "stable", CatalogSource: "catalog", CatalogSourceNamespace: home, InstallPlanApproval: v1alpha1.ApprovalAutomatic}}
	harness.Create(t, w, source, sub)
	w.phase(home, "greeter-operator.v1.0.0", v1alpha1.CSVPhaseSucceeded)
	w.becomes("alice", tenant, group, resource, true)

	harness.Edit(t, w, home, "catalog", &v1alpha1.CatalogSource{}, func(s *v1alpha1.CatalogSource) { s.Spec.Image = w.greeters("1.0.0", "1.1.0") })
	end, upgraded := time.Now().Add(must.Timeout), time.Time{}
	for ; upgraded.IsZero() || time.Since(upgraded) < 3*time.Second; time.Sleep(50 * time.Millisecond) {
		if !w.allowed("alice", tenant, group, resource) {
			t.Fatal("the access is interrupted by an upgrade")
		}
		csv := &v1alpha1.ClusterServiceVersion{}
		isDone := harness.Read(t, w, home, "greeter-operator.v1.1.0", csv) && csv.Status.Phase == v1alpha1.CSVPhaseSucceeded &&
			!harness.Read(t, w, home, "greeter-operator.v1.0.0", &v1alpha1.ClusterServiceVersion{})
		if isDone && upgraded.IsZero() {
			upgraded = time.Now()
		}
		if time.Now().After(end) {
			t.Fatal("the operator is not upgraded")
		}
	}
	harness.Remove(t, w, sub, &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "greeter-operator.v1.1.0"}})
	w.becomes("alice", tenant, group, resource, false)

	// A tenant who may create ClusterServiceVersions brings one of the name that the definition was brought for.
	harness.Create(t, w, operator(home, "greeter-operator.v1.1.0", resource+"."+group))
	w.phase(home, "greeter-operator.v1.1.0", v1alpha1.CSVPhaseSucceeded)
	w.never("another ClusterServiceVersion of the name opens the API again", func() bool { return w.allowed("alice", tenant, group, resource) })
}

// TestManagerRemovesUnjustifiedRolesAtStart: roles that an earlier version of the manager made for what an operator merely listed are gone after a start.
// Roles of people stay.
func TestManagerRemovesUnjustifiedRolesAtStart(t *testing.T) {
	const owned = "operatorgroups.operators.coreos.com"
	w := newWorld(t)
	victim := w.namespace("attack-sweep")
	w.bind(victim, "mallory", "edit")
	crd := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(t, w.Get(t.Context(), client.ObjectKey{Name: owned}, crd))
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: owned + "-v1-edit",
		Labels: map[string]string{"olm.managed": "true", "rbac.authorization.k8s.io/aggregate-to-edit": "true",
			"olm.opgroup.permissions/aggregate-to-0123456789abcdef-edit": "true", "olm.opgroup.permissions/aggregate-to-edit": "group"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: owned, UID: crd.UID}}},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"operatorgroups"}, Verbs: []string{"create", "update", "patch", "delete"}}}}
	mine := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "attack-sweep-viewers", Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"},
		OwnerReferences: role.OwnerReferences}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"operatorgroups"}, Verbs: []string{"list"}}}}
	harness.Create(t, w, role, mine)
	t.Cleanup(func() { _ = w.Delete(context.Background(), role); _ = w.Delete(context.Background(), mine) })
	w.becomes("mallory", victim, "operators.coreos.com", "operatorgroups", true)
	w.run(nil)
	w.becomes("mallory", victim, "operators.coreos.com", "operatorgroups", false)
	if !harness.Read(t, w, "", mine.Name, &rbacv1.ClusterRole{}) {
		t.Error("a role of the administrator is removed too")
	}
}
