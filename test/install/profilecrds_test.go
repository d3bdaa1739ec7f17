package install

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	vaultGroup = "vaults.example.com"
	vaultCRD   = "vaults." + vaultGroup
)

// vaultVersions are the versions of the CRD in the bundles 1.0.0 to 1.3.0 of the vault operator: another version is stored, then the first one is no
// longer served, and then it goes, for which what is stored in it is rewritten.
var vaultVersions = [][]apiextensionsv1.CustomResourceDefinitionVersion{
	{{Name: "v1", Served: true, Storage: true}},
	{{Name: "v1", Served: true}, {Name: "v2", Served: true, Storage: true}},
	{{Name: "v1"}, {Name: "v2", Served: true, Storage: true}},
	{{Name: "v2", Served: true, Storage: true}},
}

// vaultBundle are the manifests of a version of the vault operator.
func vaultBundle(t *testing.T, minor int) []any {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}, ObjectMeta: metav1.ObjectMeta{Name: vaultCRD},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: vaultGroup, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "vaults", Singular: "vault", Kind: "Vault", ListKind: "VaultList"}}}
	for _, v := range vaultVersions[minor] {
		v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"secret": {Type: "string"}}}}}}
		crd.Spec.Versions = append(crd.Spec.Versions, v)
	}
	csv := &v1alpha1.ClusterServiceVersion{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind},
		ObjectMeta: metav1.ObjectMeta{Name: vaultCSV(minor)}}
	csv.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeOwnNamespace, Supported: true}}
	csv.Spec.Cleanup.Enabled = true
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: vaultCRD, Version: crd.Spec.Versions[len(crd.Spec.Versions)-1].Name, Kind: "Vault"}}
	if minor > 0 {
		csv.Spec.Replaces = vaultCSV(minor - 1)
	}
	must.NoError(t, json.Unmarshal([]byte(`{"strategy":"deployment","spec":{"deployments":[{"name":"vault","spec":{"selector":{"matchLabels":{"app":"vault"}},
		"template":{"metadata":{"labels":{"app":"vault"}},"spec":{"containers":[{"name":"op","image":"registry.example.com/op"}]}}}}]}}`), &csv.Spec.InstallStrategy))
	return []any{csv, crd}
}

func vaultCSV(minor int) string { return fmt.Sprintf("vault.v1.%d.0", minor) }

// vaultCatalog publishes the vault operator up to a version, under the same name each time.
func (w *world) vaultCatalog(upTo int, more ...any) string {
	w.t.Helper()
	var b strings.Builder
	b.WriteString(`{"schema":"olm.package","name":"vault","defaultChannel":"stable"}{"schema":"olm.channel","package":"vault","name":"stable","entries":[`)
	for minor := range upTo + 1 {
		if minor == 0 {
			fmt.Fprintf(&b, `{"name":%q}`, vaultCSV(minor))
			continue
		}
		fmt.Fprintf(&b, `,{"name":%q,"replaces":%q}`, vaultCSV(minor), vaultCSV(minor-1))
	}
	b.WriteString("]}")
	for minor := range upTo + 1 {
		properties := []string{fmt.Sprintf(`{"type":"olm.package","value":{"packageName":"vault","version":"1.%d.0"}}`, minor)}
		for _, manifest := range append(vaultBundle(w.t, minor), more...) {
			text := must.Value(json.Marshal(manifest))(w.t)
			properties = append(properties, fmt.Sprintf(`{"type":"olm.bundle.object","value":{"data":%q}}`, base64.StdEncoding.EncodeToString(text)))
		}
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":"vault","name":%q,"image":"","properties":[%s]}`, vaultCSV(minor), strings.Join(properties, ","))
	}
	ref := w.registry + "/vaults/catalog:latest"
	harness.Push(w.t, ref, map[string]string{"configs/catalog.json": b.String()}, image.CatalogLabels())
	return ref
}

// customResourceRules are the rules that the manager's role for custom resources has gathered.
func (w *world) customResourceRules() ([]rbacv1.PolicyRule, error) {
	role := &rbacv1.ClusterRole{}
	err := w.Get(w.t.Context(), client.ObjectKey{Name: "fairlead-manager-custom-resources"}, role)
	return role.Rules, err
}

// TestTheRightsOfV0ReachConfinedTenants: an operator of a group with an account opens its API to no user, and the manager with the profile compares the
// objects of that API with a new schema, has them rewritten, and deletes them with the operator, all the same.
func TestTheRightsOfV0ReachConfinedTenants(t *testing.T) {
	const namespace = "confined"
	w := ownWorld(t)
	harness.Apply(t.Context(), t, w, profile(t))
	w.runWith(w.asManager(), func(o *manager.Options) { o.WithoutV1 = true })
	w.create(source("vaults", ofImage(w.vaultCatalog(0))))
	// Make a namespace whose OperatorGroup names an account with rights there alone, and a Subscription to the vault operator in it.
	annotations := map[string]string{"operators.fairlead.dev/crd-upgrades": "strict"}
	w.t.Helper()
	all := []string{"*"}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "installer"}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, &corev1.ServiceAccount{ObjectMeta: meta},
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"clusterserviceversions", "subscriptions"}, Verbs: all},
			{APIGroups: []string{"apps", ""}, Resources: []string{"deployments", "services", "secrets", "configmaps", "serviceaccounts"}, Verbs: all},
			{APIGroups: []string{vaultGroup}, Resources: []string{"vaults"}, Verbs: []string{"delete"}}}},
		&rbacv1.RoleBinding{ObjectMeta: meta, Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "installer"}},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "installer"}},
		&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "group", Annotations: annotations},
			Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{namespace}, ServiceAccountName: "installer"}},
		&v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "vault"}, Spec: &v1alpha1.SubscriptionSpec{Package: "vault", CatalogSource: "vaults", CatalogSourceNamespace: "olm"}})
	w.succeeds(namespace, vaultCSV(0))
	want := []rbacv1.PolicyRule{{Verbs: []string{"get", "list", "patch", "delete"}, APIGroups: []string{vaultGroup}, Resources: []string{"vaults"}}}
	must.Eventually(w.t, "the role for custom resources to have the operator's API", func() error {
		rules, err := w.customResourceRules()
		if diff := cmp.Diff(want, rules); err == nil && diff != "" {
			err = fmt.Errorf("its rules are %s", diff)
		}
		return err
	})
	vault := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"secret": "kept"}}}
	vault.SetGroupVersionKind(schema.GroupVersionKind{Group: vaultGroup, Version: "v1", Kind: "Vault"})
	vault.SetNamespace(namespace)
	vault.SetName("one")
	w.create(vault)

	w.vaultCatalog(1) // all stored objects are compared, because the namespace is strict
	w.succeeds(namespace, vaultCSV(1))
	group := &operatorsv1.OperatorGroup{}
	harness.Edit(t, w, namespace, "group", group, func(g *operatorsv1.OperatorGroup) { g.Annotations = nil })
	w.vaultCatalog(3) // one after the other
	csv := w.succeeds(namespace, vaultCSV(3))
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := w.Get(t.Context(), client.ObjectKey{Name: vaultCRD}, crd); err != nil || !slices.Equal(crd.Status.StoredVersions, []string{"v2"}) {
		t.Errorf("objects are stored as %v, %v", crd.Status.StoredVersions, err)
	}
	vault.SetGroupVersionKind(schema.GroupVersionKind{Group: vaultGroup, Version: "v2", Kind: "Vault"})
	must.NoError(t, w.Get(t.Context(), client.ObjectKeyFromObject(vault), vault))
	if secret, _, _ := unstructured.NestedString(vault.Object, "spec", "secret"); secret != "kept" {
		t.Errorf("the vault is %v", vault.Object["spec"])
	}
	for _, o := range []client.Object{&v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "vault"}}, csv} {
		must.NoError(t, w.Delete(t.Context(), o))
	}
	w.gone(csv)
	w.gone(vault)
	if rules, err := w.customResourceRules(); err != nil || !cmp.Equal(want, rules) {
		t.Errorf("at the end the role has %v, %v", rules, err)
	}
}

// bundlesAddNothing: a bundle brings a ClusterRole with the labels by which rights are gathered, those of earlier profiles among them. The manager
// gathers no rule of that role. No other operator has been installed yet.
func (w *world) bundlesAddNothing() {
	const namespace = "gathering"
	w.t.Helper()
	all := []string{"*"}
	w.create(source("vaults", ofImage(w.vaultCatalog(0, &rbacv1.ClusterRole{TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: "gathered", Labels: map[string]string{"operators.fairlead.dev/aggregate-to-manager": "true", "olm.opgroup.permissions/aggregate-to-admin": "x"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: all, Resources: all, Verbs: all}}}))),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "group"}, Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{namespace}}},
		&v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "vault"}, Spec: &v1alpha1.SubscriptionSpec{Package: "vault", CatalogSource: "vaults", CatalogSourceNamespace: "olm"}})
	w.succeeds(namespace, vaultCSV(0))
	gathered := &rbacv1.ClusterRole{}
	if err := w.Get(w.t.Context(), client.ObjectKey{Name: "gathered"}, gathered); err != nil || len(gathered.Rules) != 1 {
		w.t.Fatalf("the role of the bundle is not there: %v, %v", gathered.Rules, err)
	}
	must.Eventually(w.t, "the role for custom resources to have the operator's API", func() error {
		rules, err := w.customResourceRules()
		if err == nil && len(rules) == 0 {
			err = fmt.Errorf("it has no rules")
		}
		return err
	})
	rules, err := w.customResourceRules()
	if err != nil || slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return !slices.Equal(r.APIGroups, []string{vaultGroup}) }) {
		w.t.Errorf("the manager has gathered %v, %v", rules, err)
	}
}
