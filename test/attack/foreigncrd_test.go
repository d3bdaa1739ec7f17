package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// vault is the definition of a kind with the given fields, each a string, in JSON.
func vault(group string, fields ...string) string {
	properties := map[string]any{}
	for _, f := range fields {
		properties[f] = map[string]any{"type": "string"}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "vaults." + group},
		"spec": map[string]any{"group": group, "scope": "Namespaced", "names": map[string]any{"plural": "vaults", "singular": "vault", "kind": "Vault"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object",
				"properties": map[string]any{"spec": map[string]any{"type": "object", "properties": properties}}}}}}}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// victim makes, as the administrator, the definition of vaults with the field secret, and a vault in a namespace.
func (w *world) victim(namespace, group string) (*apiextensionsv1.CustomResourceDefinition, *unstructured.Unstructured) {
	w.t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(w.t, json.Unmarshal([]byte(vault(group, "secret")), crd))
	harness.Create(w.t, w, crd)
	w.t.Cleanup(func() { _ = w.Delete(context.Background(), crd) })
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/v1", "kind": "Vault",
		"metadata": map[string]any{"namespace": namespace, "name": "mine"}, "spec": map[string]any{"secret": "kept"}}}
	must.Eventually(w.t, "the vault to be made", func() error { return w.Create(w.t.Context(), object.DeepCopy()) })
	return crd, object
}

// keeps fails the test when a definition has changed, or when its object loses a field with the next write.
func (w *world) keeps(crd *apiextensionsv1.CustomResourceDefinition, object *unstructured.Unstructured) {
	w.t.Helper()
	live := &apiextensionsv1.CustomResourceDefinition{}
	if !harness.Read(w.t, w, "", crd.Name, live) || live.Generation != crd.Generation {
		w.t.Errorf("the attack succeeds: %s has generation %d instead of %d", crd.Name, live.Generation, crd.Generation)
	}
	stored := object.DeepCopy()
	must.NoError(w.t, w.Patch(w.t.Context(), stored, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"touched":"yes"}}}`))))
	if got, _, _ := unstructured.NestedString(stored.Object, "spec", "secret"); got != "kept" {
		w.t.Errorf("the attack succeeds: the object of another namespace has spec %v", stored.Object["spec"])
	}
}

// roles are what an account needs besides to install operators with permissions.
var roles = rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles", "rolebindings"}, Verbs: []string{"*"}}

// refuses waits until the plan of a package says why it is refused.
func (w *world) refuses(namespace, name, want string) {
	w.t.Helper()
	w.planOf(namespace, name, fmt.Sprintf("to say %q", want), func(p *v1alpha1.InstallPlan) bool { return strings.Contains(p.Status.Message, want) })
}

// owned adds to the definition of a kind what would have it deleted, and what would make it the tenant's: owners and finalizers, and the records of plans.
func owned(manifest, namespace string) string {
	crd := map[string]any{}
	if err := json.Unmarshal([]byte(manifest), &crd); err != nil {
		panic(err)
	}
	metadata := crd["metadata"].(map[string]any)
	metadata["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": "Namespace", "name": "gone", "uid": "0b6d2d3e-9c3a-4d8e-8f0c-0d4b3d2f1a00", "blockOwnerDeletion": true}}
	metadata["finalizers"] = []any{"tenant.example.com/keeps"}
	metadata["annotations"] = map[string]any{v1alpha1.AdoptableByAnnotation: "*", v1alpha1.OriginAnnotation: v1alpha1.OriginInstallPlan + "/" + namespace,
		bundle.InstalledAlongsideKey(namespace, "pruning.v1.0.0"): namespace + "/pruning.v1.0.0"}
	text, err := json.Marshal(crd)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// unowned fails the test when a bundle has made a definition something of its own.
func (w *world) unowned(name, namespace string) {
	w.t.Helper()
	live := &apiextensionsv1.CustomResourceDefinition{}
	if !harness.Read(w.t, w, "", name, live) {
		w.t.Fatalf("the attack succeeds: %s is gone", name)
	}
	ours := slices.DeleteFunc(slices.Clone(live.Finalizers), func(f string) bool { return f == "customresourcecleanup.apiextensions.k8s.io" })
	if len(live.OwnerReferences)+len(ours) > 0 || live.Annotations[v1alpha1.AdoptableByAnnotation] != "" || tenancy.Origin(live, "") == namespace {
		w.t.Errorf("the attack succeeds: %s has owners %v, finalizers %v, annotations %v", name, live.OwnerReferences, live.Finalizers, live.Annotations)
	}
}

// leave removes a Subscription of a tenant and its operator.
func leave(t *testing.T, installer client.Client, namespace, name string) {
	t.Helper()
	harness.Remove(t, installer, order(namespace, name, ""), &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: versionOf(name, 0)}})
}

// TestConfinedTenantReplacesAForeignCRD: a tenant that an OperatorGroup confines to an account subscribes to bundles with the CRD of a platform team,
// which no plan brought: an equal one, with owners, and then one without a field that objects use; and, when the platform team has let its namespace adopt
// the CRD, one with another field.
func TestConfinedTenantReplacesAForeignCRD(t *testing.T) {
	const namespace, group = "attack-crd", "crd.attack.example.com"
	w := sharedWorld(t)
	crd, object := w.victim(w.namespace("attack-crd-victim"), group)
	installer := w.confined(namespace, roles)
	w.shop(namespace, map[string][]string{
		"equal":    goods("equal", nil, owned(vault(group, "secret"), namespace)),
		"pruning":  goods("pruning", nil, vault(group, "other")),
		"adopting": goods("adopting", nil, vault(group, "secret", "more")),
	})
	harness.Create(t, installer, order(namespace, "equal", v1alpha1.ApprovalAutomatic))
	w.planOf(namespace, "equal", "to be complete", func(p *v1alpha1.InstallPlan) bool { return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete })
	w.unowned(crd.Name, namespace)
	w.keeps(crd, object)
	leave(t, installer, namespace, "equal")
	harness.Create(t, installer, order(namespace, "pruning", v1alpha1.ApprovalAutomatic))
	w.refuses(namespace, "pruning", "no InstallPlan brought it")
	w.keeps(crd, object)

	harness.Edit(t, w, "", crd.Name, &apiextensionsv1.CustomResourceDefinition{}, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Annotations = map[string]string{v1alpha1.AdoptableByAnnotation: namespace}
	})
	w.refuses(namespace, "pruning", "1 of 1 objects lose some with the next write")
	harness.Remove(t, installer, order(namespace, "pruning", ""))
	harness.Create(t, installer, order(namespace, "adopting", v1alpha1.ApprovalAutomatic))
	w.refuses(namespace, "adopting", "the account of the OperatorGroup must be allowed to patch it")
	w.keeps(crd, object)

	w.grant("attack-crd", namespace, "installer",
		rbacv1.PolicyRule{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, ResourceNames: []string{crd.Name}, Verbs: []string{"patch"}})
	w.planOf(namespace, "adopting", "to be complete", func(p *v1alpha1.InstallPlan) bool { return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete })
	live := &apiextensionsv1.CustomResourceDefinition{}
	harness.Read(t, w, "", crd.Name, live)
	w.keeps(live, object)
}

// TestConfinedTenantReplacesASharedCRD: as above, of a CRD that the plan of a platform team brought. The tenant shares it by an equal definition, and by that
// may neither change it, nor have it deleted.
func TestConfinedTenantReplacesASharedCRD(t *testing.T) {
	const namespace, platform, group = "attack-share", "attack-share-platform", "share.attack.example.com"
	w := sharedWorld(t)
	w.namespace(platform)
	w.group(platform, "")
	name := "vaults." + group
	t.Cleanup(func() {
		_ = w.Delete(context.Background(), &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}})
	})
	w.shop(platform, map[string][]string{"platform": goods("platform", nil, vault(group, "secret"))})
	harness.Create(t, w, order(platform, "platform", v1alpha1.ApprovalAutomatic))
	w.phase(platform, versionOf("platform", 0), v1alpha1.CSVPhaseSucceeded)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	harness.Read(t, w, "", name, crd)
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/v1", "kind": "Vault",
		"metadata": map[string]any{"namespace": platform, "name": "mine"}, "spec": map[string]any{"secret": "kept"}}}
	must.Eventually(t, "the vault to be made", func() error { return w.Create(t.Context(), object.DeepCopy()) })

	installer := w.confined(namespace, roles)
	w.shop(namespace, map[string][]string{
		"equal":   goods("equal", nil, owned(vault(group, "secret"), namespace)),
		"pruning": goods("pruning", nil, owned(vault(group, "other"), namespace)),
	})
	harness.Create(t, installer, order(namespace, "equal", v1alpha1.ApprovalAutomatic))
	w.planOf(namespace, "equal", "to be complete", func(p *v1alpha1.InstallPlan) bool { return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete })
	w.unowned(name, namespace)
	w.keeps(crd, object)
	leave(t, installer, namespace, "equal")
	harness.Create(t, installer, order(namespace, "pruning", v1alpha1.ApprovalAutomatic))
	w.refuses(namespace, "pruning", "defines it otherwise")
	w.unowned(name, namespace)
	w.keeps(crd, object)
}
