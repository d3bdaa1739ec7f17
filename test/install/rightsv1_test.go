package install

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// extensionsComeAndGo installs and removes an operator through the v1 API, once as the manager and once as a service account, by a manager that has
// the rights of the manifests, with the policies of the manifests in force.
func (w *world) extensionsComeAndGo() {
	w.t.Helper()
	catalog := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "samples"}, Spec: olmv1.ClusterCatalogSpec{
		Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: w.catalog("1.1.0")}}}}
	w.create(catalog, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tools"}})
	extension := func(account string) *olmv1.ClusterExtension {
		ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "greeter"}, Spec: olmv1.ClusterExtensionSpec{Namespace: "tools",
			Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: "greeter-operator"}}}}
		if account != "" {
			ext.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: account}
		}
		return ext
	}
	ext := extension("")
	w.create(ext)
	w.extensionRuns(ext)
	w.extensionGoes(ext)

	subject := rbacv1.Subject{Kind: "ServiceAccount", Namespace: "tools", Name: "installer"}
	w.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "tools", Name: "installer"}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "installer"}, Subjects: []rbacv1.Subject{subject},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}})
	ext = extension("installer")
	w.create(ext)
	w.extensionRuns(ext)
	w.extensionGoes(ext)
}

func (w *world) extensionRuns(ext *olmv1.ClusterExtension) {
	w.t.Helper()
	harness.Await(w.t, w, client.ObjectKeyFromObject(ext), ext, "ClusterExtension "+ext.Name+" to be installed", func() error {
		if !meta.IsStatusConditionTrue(ext.Status.Conditions, "Installed") || !meta.IsStatusConditionTrue(ext.Status.Conditions, "Available") {
			return fmt.Errorf("its conditions are %v", ext.Status.Conditions)
		}
		return nil
	})
}

func (w *world) extensionGoes(ext *olmv1.ClusterExtension) {
	w.t.Helper()
	must.NoError(w.t, w.Delete(w.t.Context(), ext))
	must.Eventually(w.t, "ClusterExtension "+ext.Name+" and its revisions to be gone", func() error {
		if err := w.Get(w.t.Context(), client.ObjectKeyFromObject(ext), ext); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there: %v, %w", ext.Status.Conditions, err)
		}
		sets := &olmv1.ClusterObjectSetList{}
		if err := w.List(w.t.Context(), sets); err != nil || len(sets.Items) > 0 {
			return fmt.Errorf("%d revisions are there, %w", len(sets.Items), err)
		}
		return nil
	})
}
