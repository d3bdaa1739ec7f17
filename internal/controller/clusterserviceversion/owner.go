package clusterserviceversion

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// ownerOf reads the owner labels of an object, if they name a ClusterServiceVersion.
func ownerOf(object metav1.Object) (types.NamespacedName, bool) {
	labels := object.GetLabels()
	owner := key(labels[v1alpha1.OwnerNamespaceLabel], labels[v1alpha1.OwnerLabel])
	return owner, labels[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind && owner.Name != "" && owner.Namespace != ""
}

// ownedBy says whether the owner labels of an object name the CSV.
func ownedBy(object metav1.Object, csv *v1alpha1.ClusterServiceVersion) bool {
	owner, ok := ownerOf(object)
	return ok && owner == key(csv.Namespace, csv.Name)
}

// hasOwner says whether an object has an owner reference with the UID.
func hasOwner(object metav1.Object, uid types.UID) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == uid })
}
