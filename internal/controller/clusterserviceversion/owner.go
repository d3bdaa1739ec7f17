package clusterserviceversion

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
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

// packageOf is the package that a CSV comes from, as the properties of its bundle tell; empty when they do not.
func packageOf(csv *v1alpha1.ClusterServiceVersion) string {
	var annotation struct {
		Properties []catalog.Property `json:"properties"`
	}
	if json.Unmarshal([]byte(csv.Annotations[v1alpha1.PropertiesAnnotation]), &annotation) != nil {
		return ""
	}
	for _, property := range annotation.Properties {
		var value struct {
			PackageName string `json:"packageName"`
		}
		if property.Type == catalog.PropertyPackage && json.Unmarshal(property.Value, &value) == nil {
			return value.PackageName
		}
	}
	return ""
}
