package providedapi

import (
	"encoding/json"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"
)

// memory is which ClusterServiceVersions the roles of a CRD were made for. A CRD says by name for whom it was brought. A tenant may delete that
// ClusterServiceVersion and create another one of its name, and even keep the manager from seeing the deletion; so the roles, which tenants cannot
// write, remember the UID. An InstallPlan that brings the CRD again is another bringing, for which any UID is new.
type memory map[string][]meant // by namespace/name

// meant is a ClusterServiceVersion, and the InstallPlan that brought the CRD for it; the latter is empty for CRDs of earlier versions of the manager.
type meant struct{ uid, plan string }

// isOwnMemory reports whether this controller wrote the annotation of a role that holds the memory.
func isOwnMemory(role *rbacv1.ClusterRole) bool {
	return slices.ContainsFunc(role.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		if !isOwnEntry(e) || e.FieldsV1 == nil {
			return false
		}
		var fields struct {
			Metadata struct {
				Annotations map[string]any `json:"f:annotations"`
			} `json:"f:metadata"`
		}
		if json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields) != nil {
			return false // no fields are no evidence
		}
		_, ok := fields.Metadata.Annotations["f:"+v1alpha1.ProvidersAnnotation]
		return ok
	})
}

// isOwnEntry reports whether managed fields are those that this controller applied.
func isOwnEntry(e metav1.ManagedFieldsEntry) bool {
	return e.Manager == string(fieldManager) && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
}

// CacheOptions keep in the cache which fields of ClusterRoles this controller applied. The controller believes no role without that.
func CacheOptions() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{&rbacv1.ClusterRole{}: {Transform: func(object any) (any, error) {
		if role, ok := object.(*rbacv1.ClusterRole); ok { // leave out the managed fields of others
			role.ManagedFields = slices.DeleteFunc(role.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return !isOwnEntry(e) })
		}
		return object, nil
	}}}
}

// String is the memory as the roles have it.
func (m memory) String() string {
	var entries []string
	for name, all := range m {
		for _, one := range all {
			entries = append(entries, name+"="+one.uid+"/"+one.plan)
		}
	}
	slices.Sort(entries)
	return strings.Join(entries, ",")
}

// with is the memory of the operators that own a CRD now, and of those that it was brought for and that no longer exist.
func (m memory) with(crd metav1.Object, operators []v1alpha1.ClusterServiceVersion) memory {
	next := memory{}
	for name, all := range m {
		namespace, csv, _ := strings.Cut(name, "/")
		plan := planOf(crd, namespace, csv)
		if all = slices.DeleteFunc(slices.Clone(all), func(one meant) bool { return one.plan != plan }); len(all) > 0 && tenancy.Brought(crd, namespace, csv) {
			next[name] = all
		}
	}
	for i := range operators {
		csv := &operators[i]
		if tenancy.Brought(crd, csv.Namespace, csv.Name) && next[nameOf(csv)] == nil {
			next[nameOf(csv)] = []meant{{string(csv.UID), planOf(crd, csv.Namespace, csv.Name)}}
		}
	}
	return next
}

// planOf is the UID of the InstallPlan that brought a CRD for an operator.
func planOf(crd metav1.Object, namespace, name string) string {
	return crd.GetAnnotations()[bundle.BroughtByKey(namespace, name)]
}

func nameOf(csv *v1alpha1.ClusterServiceVersion) string { return csv.Namespace + "/" + csv.Name }
