package attack

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// shop publishes a catalog whose packages have one version each, named NAME.v1.0.0, of the given manifests in JSON, and makes a CatalogSource of it in
// a namespace. The first manifest of a package is its ClusterServiceVersion.
func (w *world) shop(namespace string, packages map[string][]string) {
	w.t.Helper()
	all := map[string][][]string{}
	for name, manifests := range packages {
		all[name] = [][]string{manifests}
	}
	w.shopOfVersions(namespace, all)
}

// shopOfVersions is shop with several versions of a package: 1.0.0, 1.1.0 and so on, each of which replaces the one before.
func (w *world) shopOfVersions(namespace string, packages map[string][][]string) {
	w.t.Helper()
	var b strings.Builder
	for name, versions := range packages {
		var entries []string
		for minor, manifests := range versions {
			entry := fmt.Sprintf(`{"name":%q}`, versionOf(name, minor))
			if minor > 0 {
				entry = fmt.Sprintf(`{"name":%q,"replaces":%q}`, versionOf(name, minor), versionOf(name, minor-1))
			}
			entries = append(entries, entry)
			properties := []string{fmt.Sprintf(`{"type":"olm.package","value":{"packageName":%q,"version":"1.%d.0"}}`, name, minor)}
			for _, manifest := range manifests {
				properties = append(properties, fmt.Sprintf(`{"type":"olm.bundle.object","value":{"data":%q}}`, base64.StdEncoding.EncodeToString([]byte(manifest))))
			}
			fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":%q,"image":"","properties":[%s]}`, name, versionOf(name, minor), strings.Join(properties, ","))
		}
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":"stable"}`, name)
		fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":"stable","entries":[%s]}`, name, strings.Join(entries, ","))
	}
	ref := w.registry + "/" + namespace + "/shop:latest"
	harness.Push(w.t, ref, map[string]string{"configs/catalog.json": b.String()}, image.CatalogLabels())
	harness.Create(w.t, w, &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"},
		Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}})
}

// versionOf is the name of a version of a package of a shop.
func versionOf(name string, minor int) string { return fmt.Sprintf("%s.v1.%d.0", name, minor) }

// upgraded makes the manifests of a package those of a later version, which replaces the one before.
func upgraded(name string, minor int) func(*v1alpha1.ClusterServiceVersion) {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Name, csv.Spec.Replaces = versionOf(name, minor), versionOf(name, minor-1)
	}
}

// goods are the manifests of a package with one Deployment, which owns the CRDs among the further manifests.
func goods(name string, change func(*v1alpha1.ClusterServiceVersion), more ...string) []string {
	csv := &v1alpha1.ClusterServiceVersion{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind},
		ObjectMeta: metav1.ObjectMeta{Name: name + ".v1.0.0"}}
	csv.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeOwnNamespace, Supported: true}, {Type: v1alpha1.InstallModeTypeAllNamespaces, Supported: true}}
	if err := json.Unmarshal(fmt.Appendf(nil, `{"strategy":"deployment","spec":{"deployments":[{"name":%[1]q,"spec":{"selector":{"matchLabels":{"app":%[1]q}},
		"template":{"metadata":{"labels":{"app":%[1]q}},"spec":{"containers":[{"name":"op","image":"registry.example.com/op"}]}}}}]}}`, name), &csv.Spec.InstallStrategy); err != nil {
		panic(err)
	}
	for _, manifest := range more {
		var crd struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct{ Names struct{ Kind string } }
		}
		if json.Unmarshal([]byte(manifest), &crd) == nil && crd.Kind == "CustomResourceDefinition" {
			csv.Spec.CustomResourceDefinitions.Owned = append(csv.Spec.CustomResourceDefinitions.Owned, v1alpha1.CRDDescription{Name: crd.Metadata.Name, Version: "v1", Kind: crd.Spec.Names.Kind})
		}
	}
	if change != nil {
		change(csv)
	}
	text, err := json.Marshal(csv)
	if err != nil {
		panic(err)
	}
	return append([]string{string(text)}, more...)
}

// order makes a Subscription to a package of the shop in its namespace.
func order(namespace, name string, approval v1alpha1.Approval) *v1alpha1.Subscription {
	return &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: &v1alpha1.SubscriptionSpec{
		CatalogSource: "shop", CatalogSourceNamespace: namespace, Package: name, Channel: "stable", InstallPlanApproval: approval}}
}

// planOf waits until the plan that installs a package satisfies a check, and returns it.
func (w *world) planOf(namespace, name, what string, check func(*v1alpha1.InstallPlan) bool) *v1alpha1.InstallPlan {
	w.t.Helper()
	return w.planOfVersion(namespace, name, 0, what, check)
}

// planOfVersion is planOf for a later version of a package.
func (w *world) planOfVersion(namespace, name string, minor int, what string, check func(*v1alpha1.InstallPlan) bool) *v1alpha1.InstallPlan {
	w.t.Helper()
	var found v1alpha1.InstallPlan
	must.Eventually(w.t, "the InstallPlan of "+name+" "+what, func() error {
		var list v1alpha1.InstallPlanList
		if err := w.List(w.t.Context(), &list, client.InNamespace(namespace)); err != nil {
			return err
		}
		seen := "there is none"
		for _, p := range list.Items {
			if p.Spec.ClusterServiceVersionNames[0] != versionOf(name, minor) {
				continue
			}
			if check(&p) {
				found = p
				return nil
			}
			seen = fmt.Sprintf("%s is %q: %s", p.Name, p.Status.Phase, p.Status.Message)
		}
		sub := &v1alpha1.Subscription{}
		harness.Read(w.t, w, namespace, name, sub)
		return fmt.Errorf("%s; the Subscription says %v", seen, sub.Status.Conditions)
	})
	return &found
}
