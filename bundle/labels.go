package bundle

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
)

// APILabels are the labels by which ClusterServiceVersions are found that provide or need an API.
func APILabels(csv *v1alpha1.ClusterServiceVersion) map[string]string {
	out := map[string]string{}
	add := func(kinds []schema.GroupVersionKind, value string) {
		for _, kind := range kinds {
			out[v1alpha1.APILabelPrefix+GVKHash(catalog.GVK{Group: kind.Group, Version: kind.Version, Kind: kind.Kind})] = value
		}
	}
	add(csv.RequiredAPIs(), v1alpha1.APILabelRequired)
	add(csv.ProvidedAPIs(), v1alpha1.APILabelProvided)
	return out
}

// MarkOperator gives a ClusterServiceVersion, or a manifest of it, the labels of its APIs in place of those that it has, and the finalizer with
// which what is made for it is removed. One whose name is too long for labels gets no finalizer: nothing is ever made for it that has to be.
func MarkOperator(o metav1.Object, csv *v1alpha1.ClusterServiceVersion) {
	if finalizers := o.GetFinalizers(); CheckOperatorName(csv.Name) == nil && !slices.Contains(finalizers, v1alpha1.CSVCleanupFinalizer) {
		o.SetFinalizers(append(finalizers, v1alpha1.CSVCleanupFinalizer))
	}
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	maps.DeleteFunc(labels, func(name, _ string) bool { return strings.HasPrefix(name, v1alpha1.APILabelPrefix) })
	maps.Copy(labels, APILabels(csv))
	o.SetLabels(labels)
}

// ManagerRolePrefix begins the names of ClusterRoles that are the manager's own.
const ManagerRolePrefix = "fairlead-manager-custom-resources:"

// DropAggregation takes out of a ClusterRole of a bundle the labels and annotations that only the manager gives: by them the roles of OperatorGroups and
// of the manager itself gather rights, and roles of APIs record for whom they were made. Those of Kubernetes, which aggregate to admin, edit and view,
// stay: a bundle may bring roles for users, as far as the rights of its installation go. A role with a name of the manager's own roles gathers no rules from other roles. Other objects are left as they are.
func DropAggregation(object *unstructured.Unstructured) {
	if object.GetKind() != "ClusterRole" {
		return
	}
	if strings.HasPrefix(object.GetName(), ManagerRolePrefix) {
		delete(object.Object, "aggregationRule")
	}
	if labels := object.GetLabels(); len(labels) > 0 {
		maps.DeleteFunc(labels, func(key, _ string) bool {
			return strings.HasPrefix(key, v1alpha1.OperatorGroupAggregationLabelPrefix) || key == v1alpha1.ManagerAggregationLabel
		})
		object.SetLabels(labels)
	}
	if annotations := object.GetAnnotations(); annotations[v1alpha1.ProvidersAnnotation] != "" {
		delete(annotations, v1alpha1.ProvidersAnnotation)
		object.SetAnnotations(annotations)
	}
}
