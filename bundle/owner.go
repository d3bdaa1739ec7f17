package bundle

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// OwnerLabels are the labels that tie an object to a ClusterServiceVersion where an owner reference cannot, or not
// alone: across namespaces and on cluster-scoped objects.
func OwnerLabels(csv *v1alpha1.ClusterServiceVersion) map[string]string {
	return map[string]string{
		v1alpha1.OwnerLabel:          csv.Name,
		v1alpha1.OwnerNamespaceLabel: csv.Namespace,
		v1alpha1.OwnerKindLabel:      v1alpha1.ClusterServiceVersionKind,
	}
}

// OwnerReference makes the garbage collector remove an object after its ClusterServiceVersion. Its UID is empty as long
// as the ClusterServiceVersion has not been created.
func OwnerReference(csv *v1alpha1.ClusterServiceVersion) metav1.OwnerReference {
	no := false
	return metav1.OwnerReference{
		APIVersion:         v1alpha1.GroupVersion.String(),
		Kind:               v1alpha1.ClusterServiceVersionKind,
		Name:               csv.Name,
		UID:                csv.UID,
		Controller:         &no,
		BlockOwnerDeletion: &no,
	}
}

// ownedMeta is the metadata of a namespaced object of a ClusterServiceVersion.
func ownedMeta(csv *v1alpha1.ClusterServiceVersion, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            name,
		Namespace:       csv.Namespace,
		Labels:          OwnerLabels(csv),
		OwnerReferences: []metav1.OwnerReference{OwnerReference(csv)},
	}
}

// managedMeta is ownedMeta for an object that controllers apply by themselves.
func managedMeta(csv *v1alpha1.ClusterServiceVersion, name string) metav1.ObjectMeta {
	meta := ownedMeta(csv, name)
	meta.Labels[v1alpha1.ManagedLabel] = v1alpha1.ManagedLabelValue
	return meta
}

// union is a new map with the entries of both; those of over win.
func union(base, over map[string]string) map[string]string {
	out := make(map[string]string, len(base)+len(over))
	maps.Copy(out, base)
	maps.Copy(out, over)
	return out
}
