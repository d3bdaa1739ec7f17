package migrate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leftOfV0 is what still belongs to the v0 API.
func (w *world) leftOfV0() (left []string) {
	w.Helper()
	for _, list := range []client.ObjectList{&v1alpha1.SubscriptionList{}, &v1alpha1.ClusterServiceVersionList{}, &v1alpha1.InstallPlanList{}} {
		must.NoError(w, w.List(w.Context(), list, client.InNamespace(w.name)))
		left = append(left, names(list)...)
	}
	d := w.deployment()
	account := &corev1.ServiceAccount{}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Namespace: w.name, Name: pkg}, account))
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: crd}, definition))
	for _, o := range []client.Object{d, account, definition} {
		for _, key := range slices.Sorted(maps.Keys(o.GetLabels())) {
			if migrate.IsV0Label(key) {
				left = append(left, fmt.Sprintf("label %s of %s", key, o.GetName()))
			}
		}
		for _, r := range o.GetOwnerReferences() {
			if r.Kind != olmv1.ClusterObjectSetKind {
				left = append(left, fmt.Sprintf("owner %s %s of %s", r.Kind, r.Name, o.GetName()))
			}
		}
		for _, f := range o.GetManagedFields() {
			if strings.HasPrefix(f.Manager, "fairlead-csv") || strings.HasPrefix(f.Manager, "fairlead-installplan") {
				left = append(left, fmt.Sprintf("fields of %s in %s", f.Manager, o.GetName()))
			}
		}
	}
	return append(left, w.rolesOfCSVs()...)
}

// rolesOfCSVs are the roles and bindings of the ClusterServiceVersions of the namespace.
func (w *world) rolesOfCSVs() (out []string) {
	w.Helper()
	var roles rbacv1.RoleList
	var bindings rbacv1.RoleBindingList
	var clusterRoles rbacv1.ClusterRoleList
	var clusterBindings rbacv1.ClusterRoleBindingList
	must.NoError(w, errors.Join(w.List(w.Context(), &roles), w.List(w.Context(), &bindings), w.List(w.Context(), &clusterRoles), w.List(w.Context(), &clusterBindings)))
	add := func(kind string, o client.Object) {
		if l := o.GetLabels(); l[v1alpha1.OwnerNamespaceLabel] == w.name && l[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind {
			out = append(out, kind+" "+o.GetNamespace()+"/"+o.GetName())
		}
	}
	for i := range roles.Items {
		add("Role", &roles.Items[i])
	}
	for i := range bindings.Items {
		add("RoleBinding", &bindings.Items[i])
	}
	for i := range clusterRoles.Items {
		add("ClusterRole", &clusterRoles.Items[i])
	}
	for i := range clusterBindings.Items {
		add("ClusterRoleBinding", &clusterBindings.Items[i])
	}
	return out
}

func names(list client.ObjectList) (out []string) {
	switch l := list.(type) {
	case *v1alpha1.SubscriptionList:
		for _, o := range l.Items {
			out = append(out, "Subscription "+o.Name)
		}
	case *v1alpha1.ClusterServiceVersionList:
		for _, o := range l.Items {
			out = append(out, "ClusterServiceVersion "+o.Name)
		}
	case *v1alpha1.InstallPlanList:
		for _, o := range l.Items {
			out = append(out, "InstallPlan "+o.Name)
		}
	}
	return out
}
